import { expect, it } from 'vitest';
import { server, sessionPath } from './server.ts';

const url = sessionPath('s');

it.each(['localhost', 'LOCALHOST:8080', '127.0.0.1:1', '[::1]:8080', '[::1]'])('accepts Host %s', async (host) => {
  const { app } = await server();

  expect((await app.inject({ url: '/list-apps', headers: { host } })).statusCode).toBe(200);
});

it.each(['evil.example', 'localhost.evil.example', '127.0.0.1.evil.example:80', 'evil.example:localhost'])(
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

  expect(read.headers['access-control-allow-origin']).toBe(origin);
  expect([write.statusCode, write.headers['access-control-allow-origin']]).toEqual([200, origin]);
  expect(preflight.statusCode).toBe(204);
  expect(preflight.headers).toMatchObject({
    'access-control-allow-origin': origin,
    'access-control-allow-methods': 'GET, HEAD, POST, PUT, PATCH, DELETE',
    'access-control-allow-headers': 'content-type, x-adk-telemetry-request, last-event-id',
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
