import { expect, it } from 'vitest';
import { server, sessionPath } from '../server.ts';

const url = sessionPath('s');

it.each(['localhost', 'LOCALHOST:8080', '127.0.0.1:1', '[::1]:8080', '[::1]'])('accepts Host %s', async (host) => {
  const { app } = await server();

  expect((await app.inject({ url: '/list-apps', headers: { host } })).statusCode).toBe(200);
});

it.each(['evil.example', 'localhost.evil.example', '127.0.0.1.evil.example:80', 'evil.example:1'])(
  'refuses Host %j on a loopback address',
  async (host) => {
    const { app } = await server();

    const answer = await app.inject({ url: '/list-apps', headers: { host } });

    expect(answer.statusCode).toBe(403);
    expect(answer.json()).toMatchObject({ code: 'host_not_allowed', detail: expect.stringContaining('--allow-host') });
  },
);

it('accepts hosts that were configured, and any host on a public address', async () => {
  const named = await server({ config: { allowHosts: ['agents.example'] } });
  const open = await server({ config: { host: '0.0.0.0' } });
  const request = { url: '/list-apps', headers: { host: 'Agents.example:8080' } };

  expect((await named.app.inject(request)).statusCode).toBe(200);
  expect((await open.app.inject(request)).statusCode).toBe(200);
});

it.each(['POST', 'PATCH', 'DELETE', 'PUT', 'OPTIONS'] as const)('refuses %s from a foreign origin', async (method) => {
  const { app, services } = await server();

  const answer = await app.inject({
    method,
    url,
    headers: { origin: 'https://evil.example', host: 'localhost:8080' },
  });

  expect(answer.statusCode).toBe(403);
  expect(answer.json()).toMatchObject({
    code: 'origin_not_allowed',
    detail: expect.stringContaining('--allow-origin https://evil.example'),
  });
  expect(answer.headers).not.toHaveProperty('access-control-allow-origin');
  expect(await services.sessions.listSessions({ appName: 'demo', userId: 'u' })).toEqual([]);
});

it.each(['null', 'http://localhost:8081', 'http://localhost', 'http://localhost:8080.evil.example', 'file://', ''])(
  'refuses origin %j for localhost:8080',
  async (origin) => {
    const { app } = await server();

    const answer = await app.inject({ method: 'POST', url, headers: { origin, host: 'localhost:8080' } });

    expect(answer.statusCode).toBe(403);
  },
);

it('accepts its own origin, also behind TLS, and no origin', async () => {
  const { app } = await server();
  const post = async (headers: Record<string, string>): Promise<number> =>
    (await app.inject({ method: 'POST', url: '/apps/demo/users/u/sessions', headers })).statusCode;

  expect(await post({ origin: 'http://localhost:8080', host: 'localhost:8080' })).toBe(200);
  expect(await post({ origin: 'https://localhost:8080', host: 'localhost:8080' })).toBe(200);
  expect(await post({ host: 'localhost:8080' })).toBe(200);
});

it('lets an allowed origin read and write', async () => {
  const origin = 'http://localhost:4200';
  const { app } = await server({ config: { allowOrigins: [origin] } });

  const read = await app.inject({ url: '/list-apps', headers: { origin } });
  const write = await app.inject({ method: 'POST', url, headers: { origin } });
  const preflight = await app.inject({
    method: 'OPTIONS',
    url,
    headers: { origin, 'access-control-request-method': 'PATCH' },
  });
  const stranger = await app.inject({ url: '/list-apps', headers: { origin: 'https://evil.example' } });

  expect(read.headers).toMatchObject({
    'access-control-allow-origin': origin,
    'access-control-expose-headers': expect.stringMatching(
      /^x-run-id, x-request-id, idempotency-replayed, retry-after, location, .*\bcontent-disposition\b/,
    ) as string,
    'cross-origin-resource-policy': 'cross-origin',
  });
  expect([write.statusCode, write.headers['access-control-allow-origin']]).toEqual([200, origin]);
  expect(preflight.statusCode).toBe(204);
  expect(preflight.headers).toMatchObject({
    'access-control-allow-origin': origin,
    'access-control-allow-methods': 'GET, HEAD, POST, PUT, PATCH, DELETE',
    'access-control-allow-headers':
      'content-type, authorization, idempotency-key, last-event-id, x-request-id, x-adk-telemetry-request, range, ' +
      'if-range, if-none-match',
    'access-control-max-age': '600',
  });
  expect(preflight.headers).not.toHaveProperty('access-control-allow-credentials');
  expect(stranger.headers).not.toHaveProperty('access-control-allow-origin');
});

it('keeps cross-origin access to the mapped paths and the configured components', async () => {
  const origin = 'https://ui.example';
  const cors = {
    mapping: '/apps/**',
    origins: [origin],
    methods: ['GET'],
    headers: ['x-mine'],
    allowCredentials: true,
    maxAge: 5,
  };
  const { app } = await server({ config: { cors } });
  const preflight = { origin, 'access-control-request-method': 'GET' };

  const inside = await app.inject({ method: 'OPTIONS', url, headers: preflight });
  const outside = await app.inject({ method: 'OPTIONS', url: '/list-apps', headers: preflight });

  expect(inside.headers).toMatchObject({
    'access-control-allow-origin': origin,
    'access-control-allow-methods': 'GET',
    'access-control-allow-headers': 'x-mine',
    'access-control-allow-credentials': 'true',
    'access-control-max-age': '5',
  });
  expect(outside.headers).not.toHaveProperty('access-control-allow-origin');
});

it('refuses credentials for every origin', async () => {
  const cors = { mapping: '/**', origins: ['*'], methods: ['GET'], headers: [], allowCredentials: true, maxAge: 5 };

  await expect(server({ config: { cors } })).rejects.toMatchObject({ code: 'ConfigurationException' });
});

const foreign = [
  { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors' },
  { 'sec-fetch-site': 'same-site', 'sec-fetch-mode': 'cors' },
  { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'iframe' },
  { 'sec-fetch-site': 'something new' },
];

it.each(foreign)('refuses what pages of other sites load without saying who they are: %j', async (headers) => {
  const { app, services } = await server();

  for (const request of [
    { url: '/list-apps', headers },
    { method: 'HEAD', url: '/list-apps', headers },
    { method: 'POST', url, headers },
    { method: 'POST', url, headers: { ...headers, 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' } },
  ] as const) {
    const answer = await app.inject(request);
    expect([request.method, answer.statusCode]).toEqual([request.method, 403]);
  }
  expect(await services.sessions.listSessions({ appName: 'demo', userId: 'u' })).toEqual([]);
});

it('takes what its own pages, the user and followed links ask for', async () => {
  const { app } = await server();

  for (const headers of [
    { 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'cors' },
    { 'sec-fetch-site': 'none', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' },
    { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' },
  ]) {
    expect((await app.inject({ url: '/list-apps', headers })).statusCode).toBe(200);
  }
});

it('takes what pages of allowed origins ask for, wherever they are', async () => {
  const origin = 'https://ui.example';
  const site = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'cors' };
  const { app } = await server({ config: { allowOrigins: [origin] } });
  const open = await server({ config: { allowOrigins: ['*'] } });

  expect((await app.inject({ method: 'POST', url, headers: { ...site, origin } })).statusCode).toBe(200);
  expect((await app.inject({ url: '/list-apps', headers: { ...site, origin } })).statusCode).toBe(200);
  expect((await app.inject({ url: '/list-apps', headers: { ...site, origin: 'null' } })).statusCode).toBe(403);
  expect((await open.app.inject({ url: '/list-apps', headers: foreign[0]! })).statusCode).toBe(200);
});

it('lets nobody keep or embed its answers, faults included', async () => {
  const { app } = await server();
  await app.inject({ method: 'POST', url });

  for (const path of ['/list-apps', url, `${url}/artifacts`, '/nowhere', '/%zz', '/apps/demo/users/u/sessions/none']) {
    const { headers } = await app.inject(path);
    expect([path, headers]).toMatchObject([
      path,
      {
        'cache-control': 'no-store',
        'cross-origin-resource-policy': 'same-origin',
        'x-content-type-options': 'nosniff',
        'x-request-id': expect.any(String) as string,
      },
    ]);
  }
});
