import { describe, expect, it } from 'vitest';
import { accessibilityFaults, noBrowser, openPage } from './browser.ts';
import { createSession, say, serve } from './served.ts';

describe.skipIf(noBrowser !== undefined)('in a browser', { timeout: 60_000 }, () => {
  it('repeats a message and counts the different outcomes', async () => {
    const server = await serve();
    const { page, faults } = await openPage(`${server.url}/dev-ui/apps/careful`);
    await say(page, 'page 1');
    await page.getByText('Found page 1').click();

    await page.getByRole('button', { name: 'Repeat this message' }).click();
    await page.getByLabel('Repetitions').fill('4');
    await page.getByRole('button', { name: 'Run', exact: true }).click();

    await page.getByText('4 of 4 done: 1 answer, 1 tool sequence, 0 failed').waitFor();
    expect(await page.getByRole('cell', { name: 'Found page 1' }).count()).toBe(4);
    expect(await page.getByRole('cell', { name: 'look_up', exact: true }).count()).toBe(4);
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.getByRole('link', { name: 'Open' }).nth(1).click();
    await page.getByText('Fork: run 2 of 4.').waitFor();
    await page.getByText('Found page 1').waitFor();
    expect(faults).toEqual([]);
  });

  it('keeps the initial state of the session in each of them, and shows errors', async () => {
    const server = await serve();
    const message = { content: { role: 'user', parts: [{ text: 'boom' }] } };
    const address = await createSession(server, 'slow', { sessionId: 's', state: { plan: 'A' }, events: [message] });
    const { page } = await openPage(`${address}/repeat/event-0`);

    await page.getByLabel('Repetitions').fill('1');
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await page.getByText('1 of 1 done: 1 answer, 1 tool sequence, 1 failed').waitFor();
    await page.getByText(/failed The quota of/).waitFor();
    await page.getByRole('link', { name: 'Open' }).click();
    await page.getByRole('tab', { name: 'State' }).click();

    await page.getByText('plan', { exact: true }).waitFor();
    expect(await page.getByText('"A"', { exact: true }).count()).toBe(1);
  });
});
