import { buffer } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { noBrowser, openPage } from './browser.ts';
import { createSession, say, serve } from './served.ts';

const said = (text: string): object => ({ content: { role: 'user', parts: [{ text }] } });

describe.skipIf(noBrowser !== undefined)('in a browser', { timeout: 60_000 }, () => {
  it('finds sessions by the text of their events', async () => {
    const server = await serve();
    await createSession(server, 'slow', { sessionId: 's1', events: [said('Plans'), said('a week in Berlin')] });
    await createSession(server, 'slow', { sessionId: 's2', events: [said('Something else')] });
    const { page } = await openPage(`${server.url}/dev-ui/apps/slow`);
    const list = page.getByRole('list', { name: 'Sessions' });
    await list.getByText('Something else').waitFor();

    await page.getByRole('searchbox', { name: 'Search sessions' }).fill('berlin');

    await list.getByText('a week in Berlin').waitFor();
    await expect.poll(() => list.getByRole('listitem').count()).toBe(1);
    await page.getByRole('searchbox', { name: 'Search sessions' }).fill('nowhere');
    await page.getByText('No matches.').waitFor();
  });

  it('renames, pins and deletes with undo', async () => {
    const server = await serve();
    await createSession(server, 'slow', { sessionId: 's1', events: [said('First')] });
    await createSession(server, 'slow', { sessionId: 's2', events: [said('Second')] });
    const { page } = await openPage(`${server.url}/dev-ui/apps/slow/u/user/s/s1`);
    const list = page.getByRole('list', { name: 'Sessions' });
    const more = async (title: string, item: string): Promise<void> => {
      await page.getByRole('button', { name: `Actions for ${title}` }).click();
      await page.getByRole('menuitem', { name: item }).click();
    };

    await page.getByRole('feed').getByText('First').waitFor();
    await more('First', 'Rename …');
    await page.getByRole('textbox', { name: 'Title' }).fill('Trip');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Trip', level: 1 }).waitFor();
    await more('Second', 'Pin');
    await expect.poll(() => list.getByRole('listitem').first().innerText()).toContain('Second');

    await more('Trip', 'Delete');
    await page.getByRole('button', { name: 'Undo' }).click();
    await list.getByText('Trip').waitFor();
    await page.getByRole('heading', { name: 'Trip', level: 1 }).waitFor();
    expect((await server.fetchJson('/apps/slow/users/user/sessions/s1')).status).toBe(200);

    await more('Trip', 'Delete');
    await page.goto('about:blank'); // too late to undo
    await expect.poll(async () => (await server.fetchJson('/apps/slow/users/user/sessions/s1')).status).toBe(404);
  });

  it('exports a session, shows the file, and imports it again', async () => {
    const server = await serve();
    const address = await createSession(server, 'slow', {
      sessionId: 's1',
      events: [said('Keep me')],
      state: { a: 1 },
    });
    const { page } = await openPage(address);
    await page.getByRole('feed').getByText('Keep me').waitFor();

    const downloading = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Actions for Keep me' }).click();
    await page.getByRole('menuitem', { name: 'Export' }).click();
    const exported = await buffer(await (await downloading).createReadStream());
    const file = { name: 's1.json', mimeType: 'application/json', buffer: exported };
    expect(JSON.parse(exported.toString())).toMatchObject({
      id: 's1',
      state: { a: 1 },
      events: [said('Keep me')],
    });

    await page.locator('input[accept*=json]').setInputFiles(file);
    await page.waitForURL((url) => !url.pathname.endsWith('/s1'));
    await page.getByRole('feed').getByText('Keep me').waitFor();
    await page.goto(`${server.url}/dev-ui/view`);
    await page.locator('main input[type=file]').setInputFiles(file);
    await page.getByText('1 event. Read-only').waitFor();
  });

  it('starts a session with an initial state, and shows the sessions of another user', async () => {
    const server = await serve();
    const { page } = await openPage(`${server.url}/dev-ui/apps/slow`);
    await page.getByText('Initial state', { exact: true }).click();
    await page.getByLabel('Initial state').fill('{ "plan": "A" }');
    await say(page, 'hello');
    await page.getByText('I heard you.').waitFor();
    const { body } = await server.fetchJson('/apps/slow/users/user/sessions');
    expect(body).toMatchObject([{ state: { plan: 'A' } }]);

    await page.getByRole('button', { name: 'User: user' }).click();
    await page.getByRole('menuitem', { name: 'Other user …' }).click();
    await page.getByRole('textbox', { name: 'User ID' }).fill('ann');
    await page.keyboard.press('Enter');

    await page.getByRole('button', { name: 'User: ann' }).waitFor();
    await page.getByText('No sessions yet. Write the first message.').waitFor();
  });

  it('says why an app cannot be loaded', async () => {
    const server = await serve();
    const { page } = await openPage(`${server.url}/dev-ui/apps`);

    await page.getByRole('listitem').filter({ hasText: '"model" must be a text' }).waitFor();
    await page.getByRole('main').getByRole('link', { name: 'broken' }).click();

    const alert = page.getByRole('alert');
    expect(await alert.innerText()).toContain('broken/root_agent.yaml:2:1');
    expect(await page.getByLabel('Message', { exact: true }).isDisabled()).toBe(true);
  });

  it('keeps a filter in the address', async () => {
    const server = await serve();
    const events = [said('tell me about **tea**'), { author: 'slow', errorCode: 'QUOTA', errorMessage: 'Used up' }];
    const address = await createSession(server, 'slow', { sessionId: 's1', events });
    const { page } = await openPage(address);
    await page.getByText('Used up').waitFor();

    await page.getByRole('button', { name: 'Filters' }).click();
    await page.getByRole('menuitem', { name: 'Errors only' }).click();

    await page.getByRole('feed').getByText('about **tea**').waitFor({ state: 'detached' });
    expect(new URL(page.url()).searchParams.get('q')).toBe('is:error');
    await page.reload();
    await page.getByText('Used up').waitFor();
    await page.getByRole('button', { name: 'Remove filter is:error' }).click();
    await page.getByRole('feed').getByText('about **tea**').waitFor();
    expect(new URL(page.url()).search).toBe('');
  });
});
