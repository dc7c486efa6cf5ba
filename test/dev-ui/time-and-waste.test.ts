import { describe, expect, it } from 'vitest';
import { type Event, newActions } from '../../src/schemas/event.ts';
import { listen, says, server } from '../http/server.ts';
import { accessibilityFaults, noBrowser, openPage } from './browser.ts';

const calls = (id: string, args: object): Event =>
  says('', {
    id,
    content: { role: 'model', parts: [{ functionCall: { id: `adk-${id}`, name: 'search', args: { ...args } } }] },
    usageMetadata: { promptTokenCount: 900_000, candidatesTokenCount: 10, totalTokenCount: 900_010 },
    modelVersion: 'gemini-2.5-flash',
  });
const answers = (id: string, response: Record<string, unknown>): Event =>
  says('', { content: { role: 'user', parts: [{ functionResponse: { id: `adk-${id}`, name: 'search', response } }] } });
const handsOver = (author: string, to: string): Event =>
  says('', { author, actions: { ...newActions(), transferToAgent: to } });

async function opened(events: Event[], query: string) {
  const { app, services } = await server();
  await services.sessions.createSession({ appName: 'demo', userId: 'user' }, { sessionId: 's1', events });
  return openPage(`${await listen(app)}/dev-ui/apps/demo/u/user/s/s1?${query}`);
}

describe.skipIf(noBrowser !== undefined)('in a browser', () => {
  it('finds repeated calls, circles, unused results, failures and full windows', async () => {
    const { page, faults } = await opened(
      [
        calls('one', { q: 'x', deep: { a: 1 } }),
        answers('one', { found: 'Aberdeen' }),
        calls('two', { q: 'x', deep: { a: 1 } }),
        answers('two', { error: 'no network' }),
        handsOver('a', 'b'),
        handsOver('b', 'a'),
        handsOver('a', 'b'),
        handsOver('b', 'a'),
        says('I know nothing'),
      ],
      't=findings',
    );

    const panel = page.getByRole('list').filter({ hasText: 'search was called 2 times' });
    await panel.waitFor();
    const kinds = await page
      .locator('.finding')
      .evaluateAll((items) => items.map((item) => item.getAttribute('data-kind')));
    expect(kinds).toEqual(['repeat', 'circle', 'failed', 'unused', 'full', 'dear']);
    await page.getByText('Transfers in circles: a → b 2 times, b → a 2 times').waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.locator('.finding').first().getByRole('link').first().click();
    expect(new URL(page.url()).searchParams.get('e')).toBe('one');
    expect(faults).toEqual([]);
  });

  it('reports a session without findings', async () => {
    const { page } = await opened([says('Hello')], 't=findings');

    await page.getByText('No findings').waitFor();
    expect(await page.locator('.finding').count()).toBe(0);
  });

  it('moves through time: the state is that after the chosen event', async () => {
    const events = ['A', 'B', 'C'].map((plan) =>
      says(`plan ${plan}`, { actions: { ...newActions(), stateDelta: { plan } } }),
    );
    const { page } = await opened(events, 't=state&time=1');

    const slider = page.getByRole('slider', { name: 'Event' });
    await slider.waitFor();
    expect(await page.locator('[data-key=plan]').textContent()).toContain('"C"');
    await slider.focus();
    await page.keyboard.press('Home');
    await page.getByText('State after event 1').waitFor();
    expect(await page.locator('[data-key=plan]').textContent()).toContain('"A"');
    await page.keyboard.press('ArrowRight');
    await page.getByText('State after event 2').waitFor();
    expect(await slider.getAttribute('aria-valuetext')).toContain('event 2 of 3');
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.getByRole('group', { name: 'Time slider' }).getByRole('button', { name: 'Now' }).click();
    await page.getByText('State now').waitFor();
  });
});
