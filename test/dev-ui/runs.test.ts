import { describe, expect, it } from 'vitest';
import { accessibilityFaults, noBrowser, openPage } from './browser.ts';
import { createSession, say, serve } from './served.ts';

const whole = 'One two three four five six seven eight.';

describe.skipIf(noBrowser !== undefined)('in a browser', { timeout: 60_000 }, () => {
  it('joins the active run again after a reload, and so does a second tab', async () => {
    const server = await serve();
    const { page, faults } = await openPage(`${server.url}/dev-ui/apps/slow`);
    await say(page, 'count slowly');
    await page.getByText('One two').waitFor();

    await page.reload();
    const second = await page.context().newPage();
    await second.goto(page.url());

    for (const tab of [page, second]) {
      await tab.getByText(whole).waitFor();
      await tab.getByRole('button', { name: 'Send' }).waitFor(); // the run is over for it, too
      expect(await tab.getByRole('feed').getByRole('article').count()).toBe(2);
    }
    expect(faults).toEqual([]);
  });

  it('shows in one tab the messages of the other', async () => {
    const server = await serve();
    const { page } = await openPage(`${server.url}/dev-ui/apps/slow`);
    await say(page, 'count slowly');
    await page.getByText(whole).waitFor();
    const second = await page.context().newPage();
    await second.goto(page.url());
    await second.getByText(whole).waitFor();

    await say(page, 'hello there');

    await second.getByText('I heard you.').waitFor();
    await second.getByText('hello there').waitFor();
    expect(await second.getByRole('feed').getByRole('article').count()).toBe(4);
  });

  it('shows the messages of another client, and follows its run', async () => {
    const server = await serve();
    const address = await createSession(server, 'slow', { sessionId: 's1' });
    const { page } = await openPage(address);
    await page.getByText('No messages yet').waitFor();

    await server.fetchJson('/apps/slow/users/user/sessions/s1/runs', {
      json: { newMessage: { role: 'user', parts: [{ text: 'count slowly' }] } },
    });

    await page.getByText(whole).waitFor();
    expect(await page.getByRole('feed').getByRole('article').count()).toBe(2);
  });

  it('stops a run on the server', async () => {
    const server = await serve();
    const { page } = await openPage(`${server.url}/dev-ui/apps/slow`);
    await say(page, 'count slowly');
    await page.getByText('One two').waitFor();

    await page.getByRole('button', { name: 'Stop' }).click();

    await page.getByText(/^Stopped after/).waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    const path = new URL(page.url()).pathname.replace(/^.*\/u\/user\/s\//, '/apps/slow/users/user/sessions/');
    const { body } = await server.fetchJson(`${path}/runs`);
    expect(body).toMatchObject([{ status: 'cancelled' }]);
  });

  it('shows the message of an error, and retries the turn', async () => {
    const server = await serve();
    const { page } = await openPage(`${server.url}/dev-ui/apps/slow`);
    await say(page, 'boom');

    const error = page.getByRole('group', { name: 'Error' });
    expect(await error.innerText()).toContain('The quota of **today** is used up <b>now</b>');
    await error.getByRole('button', { name: 'Retry this turn' }).click();

    await page.getByText('rewound', { exact: true }).first().waitFor();
    expect(await error.count()).toBe(2);
  });

  it('reports that the server cannot be reached', async () => {
    const server = await serve();
    const { page } = await openPage(`${server.url}/dev-ui/apps/slow`);
    await say(page, 'hello');
    await page.getByText('I heard you.').waitFor();
    await page.context().setOffline(true);

    await say(page, 'still there?');

    // Another request of the page may fail meanwhile, with a message of its own.
    const alert = page.getByRole('alert').filter({ hasText: 'POST /run_sse · no response' });
    expect(await alert.innerText()).toContain('The server cannot be reached');
  });
});
