import { expect, it, vi } from 'vitest';
import { WebSocket } from 'ws';
import { rawClient } from '../raw-client.ts';
import { listen, runBody, says, server, sessionPath } from '../server.ts';

const uuid = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/;
const named = { 'x-request-id': 'req-1/a:b.c=' };

it('gives each request an id, and takes that of the client', async () => {
  const { app } = await server();

  for (const url of ['/list-apps', '/nowhere', '/%zz', sessionPath('none'), '/docs', '/dev-ui/']) {
    expect((await app.inject({ url, headers: named })).headers['x-request-id']).toBe('req-1/a:b.c=');
    expect((await app.inject(url)).headers['x-request-id']).toMatch(uuid);
  }
  expect((await app.inject({ url: '/nowhere', headers: named })).json()).toMatchObject({ requestId: 'req-1/a:b.c=' });
});

it.each(['', ' ', 'a b', 'a"b', '<script>', 'é', 'x'.repeat(129), 'a,b'])('takes no id like %j', async (id) => {
  const { app } = await server();

  expect((await app.inject({ url: '/list-apps', headers: { 'x-request-id': id } })).headers['x-request-id']).toMatch(
    uuid,
  );
});

it('says the id on streams, refusals, and in the log', async () => {
  const { app, logged } = await server({
    config: { bodyLimitBytes: 1000 },
    async *script(request) {
      if (request.newMessage?.parts[0]?.text === 'fail') throw new Error('broken');
      yield says('Well');
      throw new Error('broken');
    },
  });
  const post = (url: string, payload: object) => app.inject({ method: 'POST', url, headers: named, payload });

  const answers = [
    await post('/run_sse', runBody()),
    await post('/run', runBody('fail')),
    await post('/run', runBody('x'.repeat(2000))),
    await post('/run', {}),
  ];

  expect(answers.map(({ statusCode, headers }) => [statusCode, headers['x-request-id']])).toEqual([
    [200, named['x-request-id']],
    [500, named['x-request-id']],
    [413, named['x-request-id']],
    [400, named['x-request-id']],
  ]);
  const records = logged.map(({ message, fields }) => [message, fields]);
  const errorId = expect.any(String) as string;
  expect(records).toMatchObject([
    ['internal error', { err: { message: 'broken' }, errorId }],
    ['stream failed', { requestId: named['x-request-id'], errorId }],
    ['internal error', { err: { message: 'broken' }, errorId }],
    ['request failed', { requestId: named['x-request-id'], errorId }],
  ]);
});

it('gives an id to what is no request, too', async () => {
  const { app } = await server();
  const { socket, received, ended } = await rawClient(await listen(app));

  socket.write('NONSENSE\r\n\r\n');
  await ended;

  const [, id] = /^X-Request-Id: (.*)\r$/m.exec(received()) ?? [];
  expect(id).toMatch(uuid);
  expect(received()).toContain(`"requestId":"${id}"`);
});

it.each([
  [named, named['x-request-id']],
  [{}, expect.stringMatching(uuid) as string],
])('says the id where a WebSocket begins', async (headers, id) => {
  const { app } = await server();
  const url = (await listen(app)).replace('http', 'ws');
  const socket = new WebSocket(`${url}/run_live?app_name=demo&user_id=u&session_id=s`, { headers });
  let given: unknown;
  socket.on('upgrade', (answer) => (given = answer.headers['x-request-id']));

  await vi.waitUntil(() => given !== undefined);

  expect(given).toEqual(id);
  socket.terminate();
});
