import { describe, expect, it } from 'vitest';
import { newEvent } from '../../src/core/events/new-event.ts';
import { textContent } from '../../src/schemas/content.ts';
import { type Event, newActions } from '../../src/schemas/event.ts';
import { listen, says, server } from '../http/server.ts';
import { accessibilityFaults, noBrowser, openPage } from './browser.ts';

const owner = { appName: 'demo', userId: 'user' };
const asks = (text: string): Event => newEvent({ invocationId: 'e-1' }, 'user', { content: textContent('user', text) });

async function opened(left: Event[], right: Event[]) {
  const { app, services } = await server();
  const metadata = { forkedFrom: { sessionId: 'left' }, change: 'another result of search' };
  await services.sessions.createSession(owner, { sessionId: 'left', events: left });
  await services.sessions.createSession(owner, {
    sessionId: 'right',
    events: right,
    state: { __session_metadata__: metadata },
  });
  const base = await listen(app);
  return { base, ...(await openPage(`${base}/dev-ui/apps/demo/u/user/s/left/compare/right`)) };
}

describe.skipIf(noBrowser !== undefined)('in a browser', () => {
  it('shows two branches side by side and marks their first difference', async () => {
    const shared = Array.from({ length: 12 }, (_, index) => asks(`shared ${index}`));
    const write = (plan: string) => says('', { actions: { ...newActions(), stateDelta: { plan } } });
    const { page, faults } = await opened(
      [...shared, says('The weather is sunny today'), write('A')],
      [...shared, says('The weather is stormy today'), says('Stay inside'), write('B')],
    );

    await page.getByText('12 events are the same, 3 differ.').waitFor();
    await page.getByText('First difference', { exact: true }).waitFor();
    expect(await page.locator('mark').allTextContents()).toEqual(expect.arrayContaining(['sunny', 'stormy']));
    await page.getByText('events · ↑0 ↓0 · another result of search').waitFor();
    await page.getByText('The state differs in 1 key').click();
    await page.getByRole('cell', { name: '"B"' }).waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.getByRole('button', { name: '10 events are the same' }).click();
    await page.getByText('shared 3').first().waitFor();
    expect(faults).toEqual([]);
  });

  it('reports identical sessions, swaps sides, and compares with another session', async () => {
    const { page } = await opened([asks('Hi'), says('Hello')], [asks('Hi'), says('Hello')]);

    await page.getByText('Both sessions are identical.').waitFor();
    await page.getByRole('button', { name: 'Swap sides' }).click();
    await expect.poll(() => new URL(page.url()).pathname).toContain('/s/right/compare/left');
    await page.getByLabel('Left session').selectOption('left');
    await expect.poll(() => new URL(page.url()).pathname).toContain('/s/left/compare/left');
  });

  it('explains a session that does not exist', async () => {
    const { page, base } = await opened([], []);

    await page.goto(`${base}/dev-ui/apps/demo/u/user/s/left/compare/nobody`);

    await page.getByText('Session not found: nobody').waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
  });
});
