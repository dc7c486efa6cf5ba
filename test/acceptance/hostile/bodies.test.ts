import { afterAll, beforeAll, expect, it } from 'vitest';
import { newSession, readSession, runBody, sessionsPath } from '../wire/client.ts';
import { type ProbeServer, startProbeServer } from '../wire/probe-server.ts';

let server: ProbeServer;
let path = '';
let id = '';
beforeAll(async () => {
  server = await startProbeServer();
  ({ path, id } = await newSession(server.client, 'chat'));
});
afterAll(() => server.stop());

const send = (method: string, target: string, body: string): ReturnType<typeof server.client.send> =>
  server.client.send(method, target, { body, headers: { 'content-type': 'application/json' } });

const malformed: readonly [string, string][] = [
  ['a cut object', '{"appName":"chat"'],
  ['a cut text', '{"appName":"ch'],
  ['single quotes', "{'appName':'chat'}"],
  ['a trailing comma', '{"appName":"chat",}'],
  ['two documents', '{}{}'],
  ['a comment', '{/* hi */}'],
  ['NaN', '{"streaming":NaN}'],
  ['a raw control character in a text', '{"appName":"a\u0001b"}'],
  ['no JSON at all', 'hello'],
  ['HTML', '<script>alert(1)</script>'],
  ['form data', 'appName=chat&userId=user'],
  ['a byte order mark alone', '\uFEFF'],
  ['white space', '  \n '],
];
const odd: readonly [string, string][] = [
  ['an empty list', '[]'],
  ['a list of a request', '[{"appName":"chat"}]'],
  ['a number', '42'],
  ['a text', '"chat"'],
  ['true', 'true'],
];
const emptyOnes: readonly [string, string][] = [
  ['nothing', ''],
  ['null', 'null'],
  ['an empty object', '{}'],
];

it.each(
  ['/run', '/run_sse', '/run-sse'].flatMap((route) =>
    [...malformed, ...odd, ...emptyOnes].map((entry) => [route, ...entry] as const),
  ),
)('POST %s refuses %s with 400', async (route, _name, body) => {
  const answer = await send('POST', route, body);

  expect(answer).toBeProblem(400);
  expect(answer.json).toMatchObject({ instance: route });
});

it.each([...malformed.filter(([, body]) => body.trim() !== ''), ...odd])(
  'creates no session from %s',
  async (_name, body) => {
    const user = 'nobody-creates';
    for (const target of [sessionsPath('chat', user), `${sessionsPath('chat', user)}/mine`]) {
      expect(await send('POST', target, body)).toBeProblem(400);
    }
    expect((await server.client.get(sessionsPath('chat', user))).json).toEqual([]);
  },
);

it.each([...malformed, ...odd, ...emptyOnes])(
  'PATCH of a session, of memory and POST of an artifact refuse %s',
  async (_name, body) => {
    expect(await send('PATCH', path, body)).toBeProblem(400);
    expect(await send('PATCH', '/apps/chat/users/user/memory', body)).toBeProblem(400);
    expect(await send('POST', `${path}/artifacts`, body)).toBeProblem(400);
    expect(await readSession(server.client, path)).toMatchObject({ state: {}, events: [] });
  },
);

it('reads bytes that are no UTF-8 as the replacement character, or refuses them', async () => {
  const body = Buffer.concat([Buffer.from('{"a":"'), Buffer.from([0xff, 0xfe, 0xc3]), Buffer.from('"}')]);
  const response = await fetch(`${server.url}${sessionsPath('chat')}/bytes`, {
    method: 'POST',
    body,
    headers: { 'content-type': 'application/json' },
  });

  expect(await response.json()).toMatchObject(
    response.status === 200 ? { state: { a: '\uFFFD\uFFFD\uFFFD' } } : { status: 400 },
  );
});

it('reads a JSON body with a byte order mark in front, or refuses it as a problem', async () => {
  const answer = await send('POST', '/run', `\uFEFF${JSON.stringify(runBody('chat', id, 'hi'))}`);

  expect(answer).toBeAnyOf([200, 400]);
});

it.each(['gzip', 'deflate', 'br', 'nonsense'])(
  'refuses a body that claims the content encoding %s',
  async (encoding) => {
    const answer = await server.client.send('POST', '/run', {
      body: JSON.stringify(runBody('chat', id, 'hi')),
      headers: { 'content-type': 'application/json', 'content-encoding': encoding },
    });

    expect(answer).toBeAnyOf([400, 415]);
  },
);

it('takes the last of two equal keys, as JSON does, and stays alive', async () => {
  const answer = await send('POST', sessionsPath('chat', 'twice'), '{"state":{"a":1},"state":{"a":2}}');

  expect(answer.json).toMatchObject({ state: { a: 2 } });
});

it('survives all of it', async () => {
  expect((await server.client.post('/run', runBody('chat', id, 'hi'))).status).toBe(200);
});
