import { describe, expect, it } from 'vitest';
import { counterRefs } from '../../src/core/usage-store.ts';
import { listen, says, server } from '../http/server.ts';
import { accessibilityFaults, noBrowser, openPage } from './browser.ts';

const key = { appName: 'demo', userId: 'user', sessionId: 's1' };

async function opened(tokens: number, cost: number) {
  const { app, services } = await server({ budgets: { session: { tokens: 50_000 }, userDay: { cost: 5 } } });
  await services.sessions.createSession(key, { sessionId: 's1', events: [says('Hello')] });
  await services.usage.settle({ counters: Object.values(counterRefs(key, Date.now())), used: { tokens, cost } });
  return openPage(`${await listen(app)}/dev-ui/apps/demo/u/user/s/s1`);
}

describe.skipIf(noBrowser !== undefined)('in a browser', () => {
  it('shows the budget of a session that is used most, and all of them in its title', async () => {
    const { page, faults } = await opened(12_000, 4.5);

    const shown = page.getByText('$4.50 of $5.00 today');
    await shown.waitFor();
    expect(await shown.getAttribute('title')).toBe('Budgets\n12K of 50K tokens of the session\n$4.50 of $5.00 today');
    expect(await shown.getAttribute('class')).toBe('budget nearly-used');
    expect(await accessibilityFaults(page)).toEqual([]);
    expect(faults).toEqual([]);
  });

  it('marks a budget that is used up', async () => {
    const { page } = await opened(50_000, 0);

    const shown = page.getByText('50K of 50K tokens of the session');
    await shown.waitFor();
    expect(await shown.getAttribute('class')).toBe('budget used-up');
  });
});
