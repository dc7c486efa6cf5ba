import { expect, it } from 'vitest';
import { runBody, server, sessionPath } from '../server.ts';

const json = { 'content-type': 'application/json' };

it('answers an unknown route in JSON', async () => {
  const { app } = await server();

  const answer = await app.inject('/nope/%F0%9F%A6%9C?key=secret');

  expect(answer.statusCode).toBe(404);
  expect(answer.headers['content-type']).toBe('application/problem+json');
  expect(answer.json()).toMatchObject({ code: 'not_found', instance: '/nope/%F0%9F%A6%9C' });
  expect(answer.body).not.toContain('secret');
});

it('says which methods a path has', async () => {
  const { app } = await server();

  const answer = await app.inject({ method: 'PUT', url: sessionPath('s') });
  const options = await app.inject({ method: 'OPTIONS', url: '/list-apps' });

  expect(answer.statusCode).toBe(405);
  expect(answer.headers.allow).toBe('DELETE, GET, HEAD, OPTIONS, PATCH, POST');
  expect(answer.json()).toMatchObject({ code: 'method_not_allowed' });
  expect([options.statusCode, options.headers.allow, options.body]).toEqual([204, 'GET, HEAD, OPTIONS', '']);
});

it('answers HEAD like GET, without a body', async () => {
  const { app } = await server();

  const answer = await app.inject({ method: 'HEAD', url: '/list-apps' });

  expect([answer.statusCode, answer.body]).toEqual([200, '']);
});

it.each([
  ['broken JSON', '{"a":'],
  ['no JSON', 'hello'],
  ['nothing', ''],
  ['null', 'null'],
  ['an array', '[]'],
  ['bytes that are not UTF-8', Buffer.from([0x22, 0xff, 0x22])],
  ['101 levels', '['.repeat(101) + ']'.repeat(101)],
  ['100,000 levels', '{"a":'.repeat(100_000) + '1' + '}'.repeat(100_000)],
  ['a prototype key', '{"state":{"__proto__":{"admin":true}}}'],
  ['an escaped prototype key', '{"state":{"\\u005f_proto__":{"admin":true}}}'],
  ['a constructor key', '{"state":{"constructor":{"prototype":{"admin":true}}}}'],
])('refuses a body of %s', async (_name, payload) => {
  const { app } = await server();

  const answer = await app.inject({ method: 'POST', url: '/run', headers: json, payload });

  expect(answer.statusCode).toBe(400);
  expect(answer.json()).toMatchObject({ code: 'invalid_request', error: expect.any(String) });
  expect({}).not.toHaveProperty('admin');
});

it.each(['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x', 'nonsense'])(
  'refuses a body of type %s',
  async (type) => {
    const { app } = await server();

    const answer = await app.inject({
      method: 'POST',
      url: '/run',
      headers: { 'content-type': type },
      payload: JSON.stringify(runBody()),
    });

    expect(answer.statusCode).toBe(415);
    expect(answer.json()).toMatchObject({ code: 'unsupported_media_type' });
  },
);

it('refuses a compressed body', async () => {
  const { app } = await server();

  const answer = await app.inject({
    method: 'POST',
    url: '/run',
    headers: { ...json, 'content-encoding': 'gzip' },
    payload: 'x',
  });

  expect(answer.statusCode).toBe(415);
});

it('refuses a body above the limit', async () => {
  const { app } = await server({ config: { bodyLimitBytes: 1000 } });

  const answer = await app.inject({ method: 'POST', url: '/run', headers: json, payload: `"${'x'.repeat(1000)}"` });

  expect(answer.statusCode).toBe(413);
  expect(answer.json()).toMatchObject({ code: 'too_large' });
});

it('refuses a path that is not a URL', async () => {
  const { app } = await server();

  const answer = await app.inject(sessionPath('%zz'));

  expect(answer.statusCode).toBe(400);
  expect(answer.json()).toMatchObject({ code: 'invalid_request' });
});

it('lists at most five faults in its text, all of them as data', async () => {
  const { app } = await server();

  const answer = await app.inject({
    method: 'POST',
    url: '/run',
    payload: runBody('', { newMessage: { parts: Array.from({ length: 9 }, () => 1) } }),
  });

  const { detail, issues } = answer.json<{ detail: string; issues: object[] }>();
  expect(issues).toHaveLength(9);
  expect(issues[0]).toEqual({ path: 'newMessage.parts.0', message: 'expected object, received number' });
  expect(detail).toMatch(/; and 4 more$/);
});
