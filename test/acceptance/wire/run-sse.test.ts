import { afterAll, beforeAll, expect, it } from 'vitest';
import { parseResponse, requestText, openRaw } from '../hostile/raw-http.ts';
import { framesOf, newSession, readSession, runBody, textOf, type WireEvent } from './client.ts';
import { type ProbeServer, startProbeServer } from './probe-server.ts';

let server: ProbeServer;
beforeAll(async () => {
  server = await startProbeServer();
});
afterAll(() => server.stop());

const stream = async (path: string, body: object): Promise<{ status: number; headers: Headers; text: string }> => {
  const answer = await server.client.post(path, body);
  return { status: answer.status, headers: answer.headers, text: answer.text };
};

it.each(['/run_sse', '/run-sse'])(
  'POST %s streams exactly one data line and a blank line for each event',
  async (path) => {
    const { id, path: session } = await newSession(server.client, 'probe');

    const { status, headers, text } = await stream(path, runBody('probe', id, 'echo good day'));

    expect(status).toBe(200);
    expect(headers.get('content-type')).toMatch(/^text\/event-stream(; charset=utf-8)?$/);
    expect(headers.get('cache-control')).toContain('no-cache');
    const stored = (await readSession(server.client, session)).events.slice(1);
    expect(text.replaceAll(/^:.*\n\n/gm, '')).toBe(
      stored.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(''),
    );
  },
);

it('neither echoes the user event nor ends with a sentinel', async () => {
  const { id } = await newSession(server.client, 'chat');

  const { text } = await stream('/run_sse', runBody('chat', id, 'hi'));

  const frames = framesOf(text) as WireEvent[];
  expect(frames.map(({ author }) => author)).toEqual(['chat_agent']);
  expect(text).not.toMatch(/DONE|^event:|^id:|^retry:|\r/m);
});

it('streams increments as partial events and then the whole text once', async () => {
  const { id, path } = await newSession(server.client, 'chat');

  const { text } = await stream('/run_sse', runBody('chat', id, 'stream', { streaming: true }));

  const frames = framesOf(text) as WireEvent[];
  expect(frames.map((event) => [event.partial, textOf(event)])).toEqual([
    [true, 'Hel'],
    [true, 'lo, '],
    [true, 'world'],
    [true, '!'],
    [undefined, 'Hello, world!'],
  ]);
  expect(new Set(frames.map((event) => event.id)).size).toBe(5);
  expect(new Set(frames.map(({ invocationId }) => invocationId)).size).toBe(1);
  for (const frame of frames) expect(Object.keys(frame)).not.toContain('error');
  expect((await readSession(server.client, path)).events).toHaveLength(2);
});

it('streams only whole events without streaming', async () => {
  const { id } = await newSession(server.client, 'chat');

  const { text } = await stream('/run_sse', runBody('chat', id, 'stream', { streaming: false }));

  expect((framesOf(text) as WireEvent[]).map((event) => [event.partial, textOf(event)])).toEqual([
    [undefined, 'Hello, world!'],
  ]);
});

it('keeps text that would break a frame inside its JSON line', async () => {
  const { id } = await newSession(server.client, 'probe');
  const hostile = 'a\\u2028b data: {"x":1} ümlaut 你好 👩‍🚀';

  const { text } = await stream('/run_sse', runBody('probe', id, `echo ${hostile}`));

  const frames = framesOf(text) as WireEvent[];
  expect(textOf(frames.at(-1))).toBe(hostile);
});

it('sends each event with a network write of its own', async () => {
  const { id } = await newSession(server.client, 'chat');
  const open = await server.process.sse('/run_sse', runBody('chat', id, 'crawl', { streaming: true }));
  const frames = await open.all();

  expect(frames).toHaveLength(11);
  // The last fragment and the whole text leave at the same moment, and the network may join them.
  expect(open.chunks.length).toBeGreaterThanOrEqual(10);
  for (const chunk of open.chunks) expect(Buffer.from(chunk).toString()).toMatch(/\n\n$/);
});

it('sends the headers before the first event', async () => {
  const { id } = await newSession(server.client, 'chat');
  const connection = await openRaw(server.url);
  const body = JSON.stringify(runBody('chat', id, 'hang', { streaming: true }));
  connection.write(requestText('POST', '/run_sse', { host: new URL(server.url).host, body }));

  const received = await connection.until((text) => text.includes('\r\n\r\n'));

  expect(parseResponse(received)).toMatchObject({ status: 200 });
  connection.destroy();
});

it.each([
  ['an unknown session', { sessionId: 'none' }, 404, 'session_not_found'],
  ['an unknown app', { appName: 'nobody' }, 404, 'app_not_found'],
  ['a missing message', { newMessage: undefined }, 400, undefined],
  ['no parts', { newMessage: { role: 'user', parts: [] } }, 400, undefined],
])('answers %s with a problem before the stream begins', async (_name, change, status, code) => {
  const { id } = await newSession(server.client, 'chat');

  expect(await server.client.post('/run_sse', { ...runBody('chat', id, 'hi'), ...change })).toBeProblem(status, code);
});

it('ends a run that fails with one last frame that names the error', async () => {
  const { id } = await newSession(server.client, 'probe');

  const { text } = await stream('/run_sse', runBody('probe', id, 'spin', { runConfig: { maxLlmCalls: 3 } }));

  const frames = framesOf(text) as Record<string, unknown>[];
  expect(frames.at(-1)).toMatchObject({ errorCode: 'LlmCallsLimitExceededException' });
  expect(frames.at(-1)!['error']).toEqual(expect.any(String));
  expect(frames.at(-1)!['error']).toBe(frames.at(-1)!['errorMessage']);
  expect(frames.slice(0, -1).filter((frame) => 'error' in frame)).toEqual([]);
});

it('marks frames with ids only for a client that asks for a resumable stream', async () => {
  const { id } = await newSession(server.client, 'chat');

  const { text } = await stream('/run_sse', runBody('chat', id, 'hi', { resumable: true }));

  expect(text).toMatch(/^id: \S+\ndata: \{.*\}\n\n/m);
});
