import { describe, expect, it } from 'vitest';
import { noBrowser, openPage } from './browser.ts';
import { say, serve } from './served.ts';

describe.skipIf(noBrowser !== undefined)('in a browser', { timeout: 60_000 }, () => {
  it('chats with an app when the routes for development are off, and says which views are off', async () => {
    const server = await serve('agents', ['--surface', 'api']);
    const { page, faults } = await openPage(`${server.url}/dev-ui/apps/greeter`);

    await say(page, 'Bonjour');
    await page.getByText('Bonjour !').waitFor();
    const pages = page.locator('.nav-pages');
    await pages.getByText('Settings').waitFor();
    expect(await pages.innerText()).not.toMatch(/Traces|Evaluations/);
    await page.getByText('This server does not serve agent details').waitFor();
    expect(faults).toEqual([]);

    await page.goto(`${server.url}/dev-ui/traces`);
    await page.getByText('Start the server with --surface traces to allow it').waitFor();
  });
});
