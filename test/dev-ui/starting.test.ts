import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { accessibilityFaults, noBrowser, openPage } from './browser.ts';
import { copyOfAgents, createSession, say, serve } from './served.ts';

const icon = `document.querySelector('link[rel=icon]').href`;

describe.skipIf(noBrowser !== undefined)('in a browser', { timeout: 60_000 }, () => {
  it('suggests the messages in the README of the app', async () => {
    const server = await serve('agents');
    const { page, faults } = await openPage(`${server.url}/dev-ui/apps/assistant`);

    await page.getByRole('button', { name: 'Roll 2d6' }).click();
    await page.getByText('You rolled').waitFor();
    await page.goto(await createSession(server, 'assistant', { sessionId: 'empty' }));
    await page.getByRole('button', { name: 'What do you remember?' }).click();

    await page.getByText('This is what I keep for you').waitFor();
    expect(faults).toEqual([]);
  });

  it('suggests a message for an app without such a list', async () => {
    const server = await serve();
    const { page, faults } = await openPage(`${server.url}/dev-ui/apps/careful`);

    await page.getByRole('button', { name: 'What can you do?' }).click();

    await page.getByText('Say "book" or "pages".').waitFor();
    expect(faults).toEqual([]);
  });

  it('marks where in the conversation the agent was edited', async () => {
    const agents = copyOfAgents('agents');
    const server = await serve(agents);
    const { page, faults } = await openPage(`${server.url}/dev-ui/apps/greeter`);
    await say(page, 'Bonjour');
    await page.getByText('Bonjour !').waitFor();
    const file = join(agents, 'greeter/root_agent.yaml');

    writeFileSync(file, readFileSync(file, 'utf8').replace('Bonjour !', 'Salut !'));
    const reloaded = async (): Promise<string> => (await server.fetchJson('/list-apps?detailed=true')).text;
    await expect.poll(reloaded).toContain('reloads'); // an edit is noticed within a second
    await say(page, 'Bonjour');

    await page.getByText('Salut !').waitFor();
    await page.getByText(/Agent edited and reloaded at/).waitFor();
    await page.getByText('greeter was edited and reloaded').waitFor();
    await page.reload();
    await page.getByText(/Agent edited and reloaded at/).waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    expect(faults).toEqual([]);
  });

  it('shows in the tab icon whether it is running or waiting', async () => {
    const server = await serve();
    const { page } = await openPage(`${server.url}/dev-ui/apps/slow`);
    const usual = await page.evaluate(icon);

    await say(page, 'slowly');
    await expect.poll(() => page.evaluate(icon)).toContain('running');
    await page.getByRole('button', { name: 'Stop' }).click();
    await expect.poll(() => page.evaluate(icon)).toBe(usual);
    await page.goto(`${server.url}/dev-ui/apps/careful`);
    await say(page, 'book');

    await expect.poll(() => page.evaluate(icon)).toContain('waiting');
  });
});
