import { describe, expect, it, onTestFinished } from 'vitest';
import { listen, server } from '../http/server.ts';
import { ServerProcess } from '../support/server.ts';
import { accessibilityFaults, noBrowser, openPage } from './browser.ts';

async function serve(): Promise<ServerProcess> {
  const started = await ServerProcess.start({ agents: 'agents' });
  onTestFinished(() => started.stop().then(() => {}));
  return started;
}

describe.skipIf(noBrowser !== undefined)('in a browser', { timeout: 60_000 }, () => {
  it('holds a conversation', async () => {
    const { url } = await serve();
    const { page, faults } = await openPage(`${url}/dev-ui/`);

    await page.getByRole('link', { name: 'assistant', exact: true }).first().click();
    await page.getByLabel('Message').fill('Remember <b>this</b>');
    await page.keyboard.press('Enter');

    const feed = page.getByRole('feed');
    await feed.getByText('That is note 1.').waitFor();
    await feed.getByText('Remember <b>this</b>', { exact: true }).waitFor();
    await page.getByRole('link', { name: 'Remember <b>this</b>' }).waitFor();
    expect(new URL(page.url()).pathname).toMatch(/^\/dev-ui\/apps\/assistant\/u\/user\/s\/[\w-]+$/);
    await page
      .getByTestId('announcements')
      .getByText(/^Answer complete, \d+ characters$/)
      .waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    expect(faults).toEqual([]);
  });

  it.each(['?app=assistant&userId=user&session=s1', 'apps/assistant/u/user/s/s1'])(
    'opens a session from %s',
    async (address) => {
      const { url } = await serve();
      const content = { role: 'model', parts: [{ text: 'An old answer' }] };
      await fetch(`${url}/apps/assistant/users/user/sessions`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ sessionId: 's1', events: [{ id: 'e1', author: 'assistant', timestamp: 1, content }] }),
      });

      const { page } = await openPage(`${url}/dev-ui/${address}`);

      await page.getByRole('feed').getByText('An old answer').waitFor();
      expect(new URL(page.url()).pathname).toBe('/dev-ui/apps/assistant/u/user/s/s1');
    },
  );

  it('shows the API without breaking its own policy', async () => {
    const { app } = await server();
    const { page, faults } = await openPage(`${await listen(app)}/docs`);

    await page.getByText('/run-sse', { exact: true }).click();

    expect((await page.locator('body').boundingBox())?.width).toBeLessThan(1000); // its style is in force
    expect(await accessibilityFaults(page)).toEqual([]);
    expect(faults).toEqual([]);
  });
});
