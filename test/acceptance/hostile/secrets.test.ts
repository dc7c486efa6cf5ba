import { afterAll, beforeAll, expect, it } from 'vitest';
import { newSession, runBody, type WireSession } from '../wire/client.ts';
import { type ProbeServer, startProbeServer } from '../wire/probe-server.ts';
import { keyPatterns } from './key-patterns.ts';

let server: ProbeServer;
beforeAll(async () => {
  server = await startProbeServer({ flags: ['--log-level', 'trace'] });
});
afterAll(() => server.stop());

it.each(keyPatterns.map(({ kind, secret }, index) => [kind, secret, index] as const))(
  'shows %s in a model failure nowhere',
  async (_kind, secret, index) => {
    const { id, path } = await newSession(server.client, 'keys');

    const answer = await server.client.post('/run', runBody('keys', id, `model ${index}`));
    const stream = await server.client.post('/run_sse', runBody('keys', id, `model ${index}`, { streaming: true }));

    expect(stream.text).toContain('UNAUTHENTICATED');
    await expectNowhere(secret, [answer.text, stream.text], id, path);
  },
);

it.each(keyPatterns.map(({ kind, secret }, index) => [kind, secret, index] as const))(
  'shows %s in a tool failure nowhere',
  async (_kind, secret, index) => {
    const { id, path } = await newSession(server.client, 'keys');

    const answer = await server.client.post('/run', runBody('keys', id, `tool ${index}`));

    expect(answer.text).toContain('Upstream refused');
    await expectNowhere(secret, [answer.text], id, path);
  },
);

async function expectNowhere(secret: string, answers: string[], id: string, path: string): Promise<void> {
  const session = await server.client.get(path);
  const traces = await server.client.get(`/debug/trace/session/${id}`);
  const events = (session.json as WireSession).events;
  const single = await Promise.all(events.map((event) => server.client.get(`/debug/trace/${event.id}`)));
  expect(events.length).toBeGreaterThan(1);
  expect(traces.text).toContain('invocation');
  for (const text of [
    ...answers,
    session.text,
    traces.text,
    ...single.map((trace) => trace.text),
    server.process.stderr,
  ]) {
    expect(text).not.toContain(secret);
  }
}

it.each([
  ['a query', '/list-apps?key=SECRET-IN-QUERY&access_token=SECRET-IN-QUERY', {}],
  ['an authorization header', '/list-apps', { authorization: 'Bearer SECRET-IN-HEADER' }],
  ['a cookie', '/list-apps', { cookie: 'session=SECRET-IN-COOKIE' }],
  ['an API key header', '/list-apps', { 'x-goog-api-key': 'SECRET-IN-API-KEY' }],
  ['a query of a missing path', '/nowhere?token=SECRET-IN-404', {}],
])('logs no secret of %s', async (_name, path, headers) => {
  const answer = await server.client.send('GET', path, { headers });
  await server.client.get('/health');

  expect(answer.text).not.toMatch(/SECRET-IN-(?!404)/);
  expect(server.process.stderr + server.process.stdout).not.toContain('SECRET-IN-');
});

it('logs neither messages nor state at its most talkative', async () => {
  const { id } = await newSession(server.client, 'chat', { state: { pin: 'PRIVATE-STATE' } });
  await server.client.post('/run', runBody('chat', id, 'PRIVATE-MESSAGE'));
  await server.client.post('/run', runBody('chat', id, 'boom'));

  expect(server.process.stderr + server.process.stdout).not.toMatch(/PRIVATE-(STATE|MESSAGE)/);
});

it('does not hand the environment of the server to anybody', async () => {
  const { id } = await newSession(server.client, 'chat');
  for (const text of ['{PATH}', '${PATH}', '{process.env}']) {
    const answer = await server.client.post('/run', runBody('chat', id, text));
    expect(answer.text).not.toContain(process.env['PATH']!);
  }
});
