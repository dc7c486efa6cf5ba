import { describe, expect, it } from 'vitest';
import { accessibilityFaults, noBrowser, openPage } from './browser.ts';
import { say, serve } from './served.ts';

describe.skipIf(noBrowser !== undefined)('in a browser', { timeout: 60_000 }, () => {
  it('has a session remembered, and finds it again from another one', async () => {
    const server = await serve();
    const { page, faults } = await openPage(`${server.url}/dev-ui/apps/careful`);
    await say(page, 'page 1 about Lisbon');
    await page.getByText('Found page 1').waitFor();
    await page.getByRole('tab', { name: 'Memory' }).click();
    await page.getByRole('button', { name: 'Remember this session' }).click();
    await page.getByText('This session is remembered').waitFor();

    await page.goto(`${server.url}/dev-ui/apps/careful`);
    await say(page, 'hello');
    await page.getByText('Say "book" or "pages".').waitFor();
    await page.getByRole('tab', { name: 'Memory' }).click();
    await page.getByLabel('Words to look for in the memory').fill('lisbon');
    await page.keyboard.press('Enter');

    const found = page.getByRole('list', { name: 'Memories' });
    await found.getByText('page 1 about Lisbon').waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.getByLabel('Words to look for in the memory').fill('nowhere');
    await page.getByRole('button', { name: 'Search', exact: true }).click();
    await page.getByText('No memory contains these words').waitFor();
    expect(faults).toEqual([]);
  });
});
