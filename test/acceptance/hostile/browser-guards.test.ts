import { createHash } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { newSession, readSession, runBody, sessionsPath } from '../wire/client.ts';
import { type ProbeServer, startProbeServer } from '../wire/probe-server.ts';
import { sendRaw } from './raw-http.ts';

let server: ProbeServer;
let own = '';
let port = '';
let id = '';
let path = '';
beforeAll(async () => {
  server = await startProbeServer();
  own = new URL(server.url).host;
  port = new URL(server.url).port;
  ({ id, path } = await newSession(server.client, 'chat'));
});
afterAll(() => server.stop());

const foreignOrigins = (): string[] => [
  'http://evil.example',
  'https://evil.example',
  'null',
  'http://localhost.evil.example',
  `http://127.0.0.1.evil.example:${port}`,
  `http://evil.example:${port}`,
  'http://127.0.0.1:1',
  'http://localhost:1',
  `http://user@${own}`,
  `http://${own}.evil.example`,
  `http://${own}@evil.example`,
  `file://`,
  'chrome-extension://abcdef',
  'not an origin',
  `http://${own}, http://evil.example`,
];

it('refuses every request that changes something and comes from a foreign page', async () => {
  for (const origin of foreignOrigins()) {
    for (const [method, target, body] of [
      ['POST', '/run', JSON.stringify(runBody('chat', id, 'hi'))],
      ['POST', '/run_sse', JSON.stringify(runBody('chat', id, 'hi'))],
      ['POST', sessionsPath('chat', 'csrf'), '{}'],
      ['POST', sessionsPath('chat', 'csrf'), undefined],
      ['PATCH', path, '{"stateDelta":{"a":1}}'],
      ['DELETE', path, undefined],
      ['POST', `${path}/artifacts`, '{"filename":"a","artifact":{"text":"x"}}'],
      ['DELETE', `${path}/artifacts/a`, undefined],
      ['POST', '/nowhere', '{}'],
    ] as const) {
      const answer = await sendRaw(server.url, method, target, { headers: { origin }, ...(body && { body }) });

      expect(answer).toBeProblem(403, 'origin_not_allowed');
      expect(answer.headers.get('access-control-allow-origin')).toBeNull();
    }
  }
  expect(await readSession(server.client, path)).toMatchObject({ state: {}, events: [] });
  expect((await server.client.get(sessionsPath('chat', 'csrf'))).json).toEqual([]);
});

it('tells how to allow the page that it refused', async () => {
  const answer = await sendRaw(server.url, 'POST', '/run', { headers: { origin: 'http://my-ui.example' }, body: '{}' });

  expect(answer.text).toContain('--allow-origin');
  expect(answer.text).toContain('http://my-ui.example');
});

it('lets its own pages change things', async () => {
  for (const origin of [`http://${own}`, `http://localhost:${port}`]) {
    const host = new URL(origin).host;
    const answer = await sendRaw(server.url, 'POST', sessionsPath('chat', 'own'), {
      headers: { origin, host },
      body: '{}',
    });

    expect(answer).toHaveStatus(200);
  }
});

it('answers a foreign page that reads, without letting it see the answer', async () => {
  for (const target of ['/list-apps', path, '/version', '/dev-ui/']) {
    const answer = await sendRaw(server.url, 'GET', target, { headers: { origin: 'http://evil.example' } });

    expect(answer.status).toBe(200);
    expect([...answer.headers.keys()].filter((name) => name.startsWith('access-control-'))).toEqual([]);
  }
});

it('grants no foreign page a preflight', async () => {
  for (const origin of foreignOrigins()) {
    const answer = await sendRaw(server.url, 'OPTIONS', '/run', {
      headers: { origin, 'access-control-request-method': 'POST', 'access-control-request-headers': 'content-type' },
    });

    expect([...answer.headers.keys()].filter((name) => name.startsWith('access-control-allow'))).toEqual([]);
  }
});

it('refuses what a form of any page could send, even without an origin', async () => {
  const body = JSON.stringify(runBody('chat', id, 'hi'));
  for (const type of [
    'text/plain',
    'text/plain;charset=UTF-8',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    '',
  ]) {
    for (const target of ['/run', '/run_sse', sessionsPath('chat', 'csrf'), `${path}/artifacts`]) {
      const answer = await sendRaw(server.url, 'POST', target, {
        headers: { 'content-type': type, 'content-length': String(Buffer.byteLength(body)) },
        body,
      });

      expect(answer).toBeProblem(415);
    }
  }
  expect((await readSession(server.client, path)).events).toEqual([]);
});

it.each(['cross-site', 'same-site'])('refuses a write that the browser marks as %s', async (site) => {
  const answer = await sendRaw(server.url, 'POST', sessionsPath('chat', 'csrf'), {
    headers: { 'sec-fetch-site': site, 'sec-fetch-mode': 'no-cors', origin: 'http://evil.example' },
    body: '{}',
  });

  expect(answer).toBeProblem(403);
});

it('refuses the names that a rebound address would carry, for every method', async () => {
  for (const host of [
    'evil.example',
    `evil.example:${port}`,
    `localhost.evil.example:${port}`,
    `127.0.0.1.evil.example:${port}`,
    `${own}.evil.example`,
    `evil.example@${own}`,
    `169.254.169.254:${port}`,
    `[::ffff:10.0.0.1]:${port}`,
    `0x7f000001.evil.example:${port}`,
  ]) {
    for (const [method, target, body] of [
      ['GET', '/list-apps', undefined],
      ['GET', path, undefined],
      ['GET', '/dev-ui/', undefined],
      ['GET', '/', undefined],
      ['POST', '/run', JSON.stringify(runBody('chat', id, 'hi'))],
      ['DELETE', path, undefined],
    ] as const) {
      const answer = await sendRaw(server.url, method, target, { headers: { host }, ...(body && { body }) });

      // Some of these are no host at all.
      expect(answer).toBeAnyOf([400, 403]);
      expect(answer.text).not.toContain('chat_agent');
    }
  }
});

it('refuses a request whose origin agrees with a rebound host', async () => {
  const answer = await sendRaw(server.url, 'POST', sessionsPath('chat', 'csrf'), {
    headers: { host: `evil.example:${port}`, origin: `http://evil.example:${port}` },
    body: '{}',
  });

  expect(answer).toBeProblem(403);
});

it.each([['127.0.0.1'], ['localhost'], ['LOCALHOST'], ['[::1]']])(
  'answers under the loopback name %s',
  async (name) => {
    const answer = await sendRaw(server.url, 'GET', '/list-apps', { headers: { host: `${name}:${port}` } });

    expect(answer).toHaveStatus(200);
  },
);

it.each(['missing', 'empty', 'doubled'])('refuses a request whose Host is %s', async (kind) => {
  const headers: Record<string, string> =
    kind === 'missing' ? { host: '' } : kind === 'empty' ? { host: ' ' } : { Host: own, host: 'evil.example' };

  const answer = await sendRaw(server.url, 'GET', '/list-apps', { headers });

  expect([400, 403]).toContain(answer.status);
});

it('cannot be told by a proxy header that it is somebody else', async () => {
  const answer = await sendRaw(server.url, 'POST', sessionsPath('chat', 'csrf'), {
    headers: { origin: 'http://evil.example', 'x-forwarded-host': 'evil.example', 'x-forwarded-proto': 'http' },
    body: '{}',
  });

  expect(answer).toBeProblem(403);
});

it.each([
  ['TRACE', '/list-apps'],
  ['CONNECT', 'evil.example:80'],
])('does not serve %s', async (method, target) => {
  const answer = await sendRaw(server.url, method, target).catch(() => undefined);

  expect([undefined, 400, 404, 405, 501]).toContain(answer?.status);
});

it('sends the development UI with headers that keep other scripts and frames out', async () => {
  const { headers } = await server.client.get('/dev-ui/');

  const policy = headers.get('content-security-policy') ?? '';
  expect(policy).toContain("frame-ancestors 'none'");
  expect(policy).toMatch(/default-src 'self'|script-src 'self'/);
  expect(policy).toMatch(/object-src 'none'|default-src 'none'/);
  const scripts = /script-src [^;]*/.exec(policy)?.[0] ?? /default-src [^;]*/.exec(policy)?.[0];
  expect(scripts).not.toMatch(/unsafe-inline|unsafe-eval|\*|data:|https?:/);
  expect(headers.get('x-content-type-options')).toBe('nosniff');
  expect(headers.get('referrer-policy')).toMatch(/no-referrer|same-origin/);
});

it('has no inline script or handler on the page that the policy would stop', async () => {
  const { text, headers } = await server.client.get('/dev-ui/');
  const policy = headers.get('content-security-policy') ?? '';
  const inline = [...text.matchAll(/<script(?![^>]*\bsrc=)(?![^>]*type="application\/json")[^>]*>([^]*?)<\/script>/gi)];

  for (const [, script = ''] of inline) {
    expect(policy).toContain(`'sha256-${createHash('sha256').update(script).digest('base64')}'`);
  }
  expect(text).not.toMatch(/\son\w+\s*=/i);
  expect(text).not.toMatch(/javascript:/i);
});

it.each(['/list-apps', '/nowhere', '/health', '/openapi.json'])('marks GET %s as not to be sniffed', async (target) => {
  expect((await server.client.get(target)).headers.get('x-content-type-options')).toBe('nosniff');
});
