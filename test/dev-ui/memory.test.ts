import { describe, expect, it } from 'vitest';
import { accessibilityFaults, noBrowser, openPage } from './browser.ts';
import { say, serve } from './served.ts';

describe.skipIf(noBrowser !== undefined)('in a browser', { timeout: 60_000 }, () => {
  it('adds a session to the memory, and finds it from another one', async () => {
    const server = await serve();
    const { page, faults } = await openPage(`${server.url}/dev-ui/apps/careful`);
    await say(page, 'page 1 about Lisbon');
    await page.getByText('Found page 1').waitFor();
    await page.getByRole('tab', { name: 'Memory' }).click();
    await page.getByRole('button', { name: 'Add this session to memory' }).click();
    await page.getByText('Session added to memory').waitFor();

    await page.goto(`${server.url}/dev-ui/apps/careful`);
    await say(page, 'hello');
    await page.getByText('Say "book" or "pages".').waitFor();
    await page.getByRole('tab', { name: 'Memory' }).click();
    await page.getByLabel('Search the memory').fill('lisbon');
    await page.keyboard.press('Enter');

    const found = page.getByRole('list', { name: 'Memories' });
    await found.getByText('page 1 about Lisbon').waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.getByLabel('Search the memory').fill('nowhere');
    await page.getByRole('button', { name: 'Search', exact: true }).click();
    await page.getByText('No memories found').waitFor();
    expect(faults).toEqual([]);
  });
});
