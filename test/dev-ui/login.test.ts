import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type NewApiKey, newApiKey } from '../../src/identity/api-keys.ts';
import { client, startOidcProvider } from '../support/oidc-provider.ts';
import { folderOf } from '../support/program.ts';
import { ServerProcess } from '../support/server.ts';
import { accessibilityFaults, noBrowser, openPage } from './browser.ts';
import { copyOfAgents, say, serve } from './served.ts';

/** A server with one API key, and flags of the test's own. */
async function serveWithKey(flags: readonly string[] = [], fields: Partial<NewApiKey> = {}) {
  const { text: key, record } = newApiKey({
    owner: 'Ada',
    userId: 'ada',
    actsForUsers: false,
    roles: ['user'],
    ...fields,
  });
  const other = newApiKey({ owner: 'Eve', userId: 'eve', actsForUsers: false, roles: ['user'] });
  const folder = folderOf({ 'keys.json': JSON.stringify({ keys: [record, other.record] }) });
  const file = join(folder, 'keys.json');
  const server = await ServerProcess.start({ agents: copyOfAgents(), flags: ['--auth-keys', file, ...flags] });
  onTestFinished(() => server.stop().then(() => {}));
  const revoke = (): void =>
    writeFileSync(file, JSON.stringify({ keys: [{ ...record, revokedAt: new Date().toISOString() }] }));
  return { server, key, otherKey: other.text, revoke };
}

async function typeKey(page: Page, key: string): Promise<void> {
  await page.getByLabel('API key').fill(key);
  await page.getByRole('button', { name: 'Log in', exact: true }).click();
}

const entry = (page: Page, name: string) => page.getByRole('link', { name, exact: true });

describe.skipIf(noBrowser !== undefined)('in a browser', { timeout: 60_000 }, () => {
  it('logs in by an API key, shows who the caller is, and logs out', async () => {
    const { server, key } = await serveWithKey();
    const { page } = await openPage(`${server.url}/dev-ui/apps/careful`);

    await page.getByRole('heading', { name: 'Log in' }).waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await typeKey(page, `${key}x`);
    await page.getByText('This key is unknown, revoked or expired.').waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await typeKey(page, key);

    // Back where the user wanted to be.
    await page.getByRole('heading', { name: 'careful' }).waitFor();
    await say(page, 'Hello');
    await page.getByText('Say "book" or "pages".').waitFor();
    expect(page.url()).toContain('/u/ada/s/');
    await page.getByRole('button', { name: 'Account: ada' }).click();
    await page.getByRole('menuitem', { name: 'Who am I' }).click();
    await page.getByText('Logged in until').waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.keyboard.press('Escape');
    // What a user may not do is not offered.
    await entry(page, 'Traces').waitFor();
    expect(await entry(page, 'Tools').count()).toBe(0);
    expect(await entry(page, 'Evaluations').count()).toBe(0);
    expect(await page.getByRole('button', { name: /^User: / }).count()).toBe(0);
    expect(await page.getByRole('button', { name: /^(?:Import a session|Save session as)/ }).count()).toBe(0);
    expect(await page.evaluate('document.cookie + JSON.stringify(localStorage)')).not.toContain(key);

    await page.getByRole('button', { name: 'Account: ada' }).click();
    await page.getByRole('menuitem', { name: 'Log out' }).click();
    await page.getByRole('heading', { name: 'Log in' }).waitFor();
    expect(await page.context().cookies()).toEqual([]);
  });

  it('leads to the login as soon as the login counts no more', async () => {
    const { server, key, revoke } = await serveWithKey();
    const { page } = await openPage(`${server.url}/dev-ui/apps/careful`);
    await typeKey(page, key);
    await page.getByRole('heading', { name: 'careful' }).waitFor();

    revoke();
    await expect
      .poll(async () => (await fetch(`${server.url}/auth/me`, { headers: { 'x-api-key': key } })).status)
      .toBe(401);
    await say(page, 'pages');

    await page.getByRole('heading', { name: 'Log in' }).waitFor();
    expect(page.url()).toBe(`${server.url}/dev-ui/apps/careful`);
  });

  it('keeps an unsent message through a login of the same caller', async () => {
    const { server, key, otherKey } = await serveWithKey();
    const { page } = await openPage(`${server.url}/dev-ui/apps/careful`);
    const field = page.getByLabel('Message', { exact: true });
    const logInAgain = async (as: string): Promise<void> => {
      await page.getByRole('heading', { name: 'Log in' }).waitFor();
      await typeKey(page, as);
      await field.waitFor();
    };

    // A message that the server did not accept.
    await logInAgain(key);
    await page.context().clearCookies();
    await say(page, 'Hello');
    await logInAgain(key);
    expect(await field.inputValue()).toBe('Hello');
    await field.press('Enter');
    await page.getByText('Say "book" or "pages".').waitFor();

    // A message that is still being written.
    await field.fill('Half of');
    await page.context().clearCookies();
    await logInAgain(key);
    expect(await field.inputValue()).toBe('Half of');
    await page.reload();
    await field.waitFor();
    expect(await field.inputValue()).toBe('Half of');

    await page.goto(`${server.url}/dev-ui/apps/careful`);
    await field.waitFor();
    expect(await field.inputValue()).toBe('');
    await page.context().clearCookies();
    await say(page, 'Not for Eve');
    await logInAgain(otherKey);
    expect(await field.inputValue()).toBe('');
  });

  it('offers developers what they may do, and operators the sessions of all users', async () => {
    const { server, key } = await serveWithKey([], { roles: ['developer', 'operator'] });
    const { page } = await openPage(`${server.url}/dev-ui/apps/careful`);
    await typeKey(page, key);

    await entry(page, 'Tools').waitFor();
    await entry(page, 'Evaluations').waitFor();
    await page.getByRole('button', { name: 'Import a session' }).waitFor();
    await page.getByRole('button', { name: 'User: ada' }).click();
    expect(await page.getByRole('menuitem', { name: /^Other user/ }).count()).toBe(1);
  });

  it('logs in at an OpenID Connect issuer, keeps users apart, and logs out', async () => {
    const provider = await startOidcProvider();
    const { server } = await serveWithKey([
      '--auth-login-issuer',
      provider.url,
      '--auth-login-client-id',
      client.clientId,
      '--auth-login-client-secret',
      client.clientSecret,
    ]);
    await provider.serve(`${server.url}/auth/callback`);
    const { page, faults } = await openPage(`${server.url}/dev-ui/apps/careful`);

    await page.getByRole('heading', { name: 'Log in' }).waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.getByRole('link', { name: `Log in with ${new URL(provider.url).host}` }).click();
    await page.getByPlaceholder('Enter any login').fill('eve');
    await page.getByPlaceholder('and password').fill('any');
    await page.getByRole('button', { name: 'Sign-in' }).click();
    await page.getByRole('button', { name: 'Continue' }).click();

    await page.waitForURL(`${server.url}/dev-ui/apps/careful`);
    await say(page, 'pages');
    await page.waitForURL('**/u/eve/s/**');
    await page.getByRole('button', { name: 'Account: eve' }).waitFor();
    faults.length = 0;
    const foreign = await page.evaluate(async () => (await fetch('/apps/careful/users/bob/sessions')).status);
    expect(foreign).toBe(403);
    await page.goto(`${server.url}/dev-ui/apps/careful/u/bob/s/any`);
    await page.getByText('You may not act for this user').first().waitFor();

    await page.getByRole('button', { name: /^Account: / }).click();
    await page.getByRole('menuitem', { name: 'Log out' }).click();
    await page.getByRole('heading', { name: 'Log in' }).waitFor();
    await page.goto(`${server.url}/dev-ui/apps/careful`);
    await page.getByRole('heading', { name: 'Log in' }).waitFor();
  });

  it('asks for no login and sends no request for one on a server that does not know its callers', async () => {
    const server = await serve();
    const { page, faults } = await openPage(server.url);
    const asked: string[] = [];
    page.on('request', (request) => void asked.push(new URL(request.url()).pathname));

    await page.goto(`${server.url}/dev-ui/apps/careful`);
    await say(page, 'Hello');
    await page.getByText('Say "book" or "pages".').waitFor();

    expect(await page.getByRole('button', { name: /^Account: / }).count()).toBe(0);
    expect(asked.length).toBeGreaterThan(5);
    expect(asked.filter((path) => path.startsWith('/auth/'))).toEqual([]);
    expect(faults).toEqual([]);
  });

  it('says why the issuer logged nobody in', async () => {
    const { server } = await serveWithKey();
    const { page } = await openPage(`${server.url}/dev-ui/login?failed=denied`);

    await page.getByText('The login was cancelled, or you may not use this server.').waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
  });
});
