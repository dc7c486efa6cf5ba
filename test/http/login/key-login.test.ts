import { expect, it } from 'vitest';
import { loginServer, Visitor } from './scene.ts';

const sessions = '/apps/demo/users/ada/sessions';
const cookieName = 'agent-server-login';

it('logs a browser in by an API key, and out', async () => {
  const server = await loginServer();
  const key = server.addKey({ roles: ['operator'] });
  const ada = new Visitor(server.url);

  expect(await ada.statuses()).toEqual([401, 401]);
  expect((await ada.send('/auth/methods')).body).toEqual({ key: true });
  const login = await ada.send('/auth/login', { json: { key } });

  expect(login.body).toMatchObject({ userId: 'ada', actsForUsers: false, roles: ['user', 'operator'], loggedIn: true });
  expect(login.set).toHaveLength(1);
  expect(login.set[0]).toMatch(/^agent-server-login=[\w-]+; Path=\/; Max-Age=28[78]\d\d; HttpOnly; SameSite=Strict$/);
  expect(login.text + login.set.join()).not.toContain(key.slice(-43));
  expect((await ada.send('/auth/me')).body).toEqual(login.body);
  expect((await ada.send(sessions, { json: {} })).status).toBe(200);
  const stolen = new Visitor(server.url);
  stolen.cookies.set(cookieName, ada.cookies.get(cookieName) ?? '');

  expect((await ada.send('/auth/logout', { json: {} })).status).toBe(200);

  expect(ada.cookies.size).toBe(0);
  expect(await ada.statuses()).toEqual([401, 401]);
  expect(await stolen.statuses()).toEqual([401, 401]);
});

it('opens the web UI and its login page to callers without a login, and nothing else', async () => {
  const server = await loginServer();
  const stranger = new Visitor(server.url);

  const page = await stranger.send('/dev-ui/login?failed=denied');
  expect(page.status).toBe(200);
  expect(page.text).toContain('<html lang="en" data-callers="known">');
  expect((await stranger.send('/')).status).toBe(307);
  for (const path of ['/list-apps', '/capabilities', '/openapi.json', '/docs', '/nowhere']) {
    expect((await stranger.send(path)).status).toBe(401);
  }
});

it('refuses more bad keys of an address than allowed with 429, and still takes a good one', async () => {
  const server = await loginServer({ limits: { failedAuthPerMinute: 2 } });
  const key = server.addKey();
  const visitor = new Visitor(server.url);
  const bad = `${key.slice(0, -43)}${'x'.repeat(43)}`;

  const statuses = [];
  for (const tried of [bad, bad, bad, key]) {
    statuses.push((await visitor.send('/auth/login', { json: { key: tried } })).status);
  }

  expect(statuses).toEqual([401, 401, 429, 200]);
});

it('limits the cookie to https where browsers use https', async () => {
  const server = await loginServer();
  const visitor = new Visitor(server.url);
  const origin = server.url.replace('http:', 'https:'); // a proxy in front of the server speaks https

  const { set } = await visitor.send('/auth/login', { json: { key: server.addKey() }, headers: { origin } });

  expect(set[0]).toMatch(/^__Host-agent-server-login=.*; Path=\/; .*HttpOnly; SameSite=Strict; Secure$/);
  expect(await visitor.statuses()).toEqual([200, 200]);
});

it('takes no cookie without the prefix at a server that is reached over https only', async () => {
  const server = await loginServer({ auth: { login: { redirectUri: 'https://agents.example/auth/callback' } } });
  const key = server.addKey();
  const visitor = new Visitor(server.url);

  await visitor.send('/auth/login', { json: { key } });
  expect(await visitor.statuses()).toEqual([200, 200]);
  const value = visitor.cookies.get(`__Host-${cookieName}`) ?? '';
  visitor.cookies.clear();
  visitor.cookies.set(cookieName, value);

  expect(await visitor.statuses()).toEqual([401, 401]);
});

it('ends a login with its key, and lets the key decide what it may do', async () => {
  const server = await loginServer();
  const ada = new Visitor(server.url);
  await ada.send('/auth/login', { json: { key: server.addKey({ expiresAt: '2099-01-01T00:00:00.000Z' }) } });
  expect(await ada.statuses()).toEqual([200, 200]);

  server.revokeKeys();

  await expect.poll(() => ada.statuses()).toEqual([401, 401]);
});

it.each([
  ['the key is wrong', { key: 'ask_0123456789abcdef_0123456789012345678901234567890123456789012' }, 401],
  ['it is a token', { key: 'eyJhbGciOiJub25lIn0.e30.' }, 401],
  ['there is no key', {}, 400],
  ['the key is long', { key: 'a'.repeat(600) }, 400],
])('logs nobody in when %s', async (_, json, status) => {
  const server = await loginServer();
  server.addKey();
  const visitor = new Visitor(server.url);

  const answer = await visitor.send('/auth/login', { json });

  expect(answer.status).toBe(status);
  expect(answer.set).toEqual([]);
  expect(answer.text).not.toContain('0123456789012345678901234567890123456789012');
});

it('refuses a cookie that was changed, cut, doubled or made by another server', async () => {
  const [server, other] = await Promise.all([
    loginServer(),
    loginServer({ secret: 'another secret, which is 32 characters long' }),
  ]);
  const [ada, eve] = [new Visitor(server.url), new Visitor(other.url)];
  await ada.send('/auth/login', { json: { key: server.addKey() } });
  await eve.send('/auth/login', { json: { key: other.addKey() } });
  const good = ada.cookies.get(cookieName) ?? '';
  const flipped = (good.startsWith('A') ? 'B' : 'A') + good.slice(1);

  for (const bad of [
    flipped,
    good.slice(0, -4),
    good.slice(0, 10),
    '',
    `${good}; ${cookieName}=${good}`,
    '%00',
    eve.cookie,
  ]) {
    ada.cookies.set(cookieName, bad);
    expect(await ada.statuses()).toEqual([401, 401]);
  }
  ada.cookies.set(cookieName, good);
  expect(await ada.statuses()).toEqual([200, 200]);
});

it('knows the login at every server with the same secret and keys', async () => {
  const one = await loginServer();
  const key = one.addKey();
  const two = await loginServer({ auth: { keys: one.file } });
  const ada = new Visitor(one.url);
  await ada.send('/auth/login', { json: { key } });
  const there = new Visitor(two.url);
  there.cookies.set(cookieName, ada.cookies.get(cookieName) ?? '');

  expect(await there.statuses()).toEqual([200, 200]);
});

it.each([
  ['a page of another site writes', 'POST', { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' }, 403],
  ['a page of another port writes', 'POST', { 'sec-fetch-site': 'same-site', origin: 'http://127.0.0.1:1' }, 403],
  ['a page without an origin writes', 'POST', { 'sec-fetch-site': 'cross-site', origin: 'null' }, 403],
  ['a page of another port reads', 'GET', { 'sec-fetch-site': 'same-site', origin: 'http://127.0.0.1:1' }, 403],
  ['a page of another port embeds', 'GET', { 'sec-fetch-site': 'same-site' }, 403],
  [
    'a page of an allowed origin writes',
    'POST',
    { 'sec-fetch-site': 'same-site', origin: 'http://app.localhost' },
    403,
  ],
  ['a page of an allowed origin reads', 'GET', { 'sec-fetch-site': 'same-site', origin: 'http://app.localhost' }, 401],
])('keeps the cookie from pages of other origins: %s', async (_, method, headers, status) => {
  const server = await loginServer({ allowOrigins: ['http://app.localhost'], cors: { allowCredentials: true } });
  const ada = new Visitor(server.url);
  await ada.send('/auth/login', { json: { key: server.addKey() } });

  const answer = await ada.send(sessions, { method, headers, ...(method === 'POST' && { json: {} }) });

  expect(answer.status).toBe(status);
  expect((await ada.send(sessions)).body).toEqual([]);
});

it('needs to know the page of a request that changes something', async () => {
  const server = await loginServer();
  const ada = new Visitor(server.url);
  await ada.send('/auth/login', { json: { key: server.addKey() } });
  const send = (headers: Record<string, string>) =>
    fetch(`${server.url}${sessions}`, {
      method: 'POST',
      body: '{}',
      headers: { 'content-type': 'application/json', cookie: ada.cookie, ...headers },
    });

  expect((await send({})).status).toBe(403);
  expect((await send({ origin: server.url })).status).toBe(200);
  expect((await send({ 'sec-fetch-site': 'same-origin' })).status).toBe(200);
});

it('lets no page of an allowed origin log a browser in or out', async () => {
  const server = await loginServer({ allowOrigins: ['http://app.localhost'] });
  const key = server.addKey();
  const ada = new Visitor(server.url);
  const foreign = { origin: 'http://app.localhost', 'sec-fetch-site': 'cross-site' };

  expect((await ada.send('/auth/login', { json: { key }, headers: foreign })).status).toBe(403);
  await ada.send('/auth/login', { json: { key } });
  expect((await ada.send('/auth/logout', { json: {}, headers: foreign })).status).toBe(403);

  expect(await ada.statuses()).toEqual([200, 200]);
});

it('logs in programs, which send no headers of a browser', async () => {
  const server = await loginServer();
  const response = await fetch(`${server.url}/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ key: server.addKey() }),
  });

  expect(response.status).toBe(200);
  const cookie = response.headers.getSetCookie()[0]?.split(';')[0] ?? '';
  expect((await fetch(`${server.url}/auth/me`, { headers: { cookie } })).status).toBe(200);
});

it('says who a caller with another credential is', async () => {
  const server = await loginServer();
  const key = server.addKey({ apps: ['demo'], expiresAt: '2099-01-01T00:00:00.000Z' });
  const me = await new Visitor(server.url).send('/auth/me', { headers: { 'x-api-key': key } });

  expect(me.body).toMatchObject({
    userId: 'ada',
    apps: ['demo'],
    expiresAt: '2099-01-01T00:00:00.000Z',
    loggedIn: false,
  });
});

it('has no login without authentication', async () => {
  const server = await loginServer({ auth: { keys: undefined } });
  const visitor = new Visitor(server.url);

  expect((await visitor.send('/auth/me')).status).toBe(404);
  expect((await visitor.send('/dev-ui/')).text).not.toContain('data-callers');
  expect((await visitor.send(sessions)).status).toBe(200);
});
