import { afterAll, beforeAll, expect, it } from 'vitest';
import { newSession, runBody, sessionsPath, type WireEvent, type WireSession } from './client.ts';
import { type ProbeServer, startProbeServer } from './probe-server.ts';

let server: ProbeServer;
beforeAll(async () => {
  server = await startProbeServer();
});
afterAll(() => server.stop());

/** As the TypeScript ADK client: a JSON content type on every request, and every answer parsed as JSON. */
async function typescriptCall(method: string, path: string, body?: unknown): Promise<unknown> {
  const response = await fetch(server.url + path, {
    method,
    headers: { 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const json = (await response.json()) as { error?: string };
  if (!response.ok) throw new Error(json.error ?? `Status ${response.status}`);
  return json;
}

/** As the TypeScript ADK client: blocks that begin with `data: ` count, and a payload with an error throws. */
async function* typescriptStream(body: unknown): AsyncGenerator<WireEvent> {
  const response = await fetch(`${server.url}/run_sse`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(((await response.json()) as { error: string }).error);
  let text = '';
  for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    const blocks = text.split('\n\n');
    text = blocks.pop()!;
    for (const block of blocks) {
      if (!block.startsWith('data: ')) continue;
      const event = JSON.parse(block.slice(6)) as WireEvent & { error?: string };
      if (event.error) throw new Error(event.error);
      yield event;
    }
  }
}

/** As the official UI reads a stream: whole chunks, each a run of complete data lines, duplicates if one is cut. */
async function browserStream(body: unknown): Promise<WireEvent[]> {
  const response = await fetch(`${server.url}/run_sse`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
    body: JSON.stringify(body),
  });
  const events: WireEvent[] = [];
  const decoder = new TextDecoder();
  let pending = '';
  for await (const bytes of response.body!) {
    pending += decoder.decode(bytes, { stream: true });
    try {
      const lines = pending.split(/\r?\n/).filter((line) => line.startsWith('data:'));
      for (const line of lines) events.push(JSON.parse(line.slice(5)) as WireEvent);
      pending = '';
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
    }
  }
  return events;
}

it('lives through a whole conversation of the TypeScript client', async () => {
  const base = sessionsPath('probe', 'ts');
  const apps = await typescriptCall('GET', '/list-apps');
  const session = (await typescriptCall('POST', base, { state: { a: 1 } })) as WireSession;
  const events = (await typescriptCall(
    'POST',
    '/run',
    runBody('probe', session.id, 'save f.txt hi', { userId: 'ts' }),
  )) as WireEvent[];
  const listed = (await typescriptCall('GET', base)) as WireSession[];
  const read = (await typescriptCall('GET', `${base}/${session.id}`)) as WireSession;
  const names = await typescriptCall('GET', `${base}/${session.id}/artifacts`);
  const removed = await typescriptCall('DELETE', `${base}/${session.id}/artifacts/f.txt`);
  const deleted = await typescriptCall('DELETE', `${base}/${session.id}`);

  expect(apps).toContain('probe');
  expect(events.length).toBeGreaterThan(0);
  expect(listed.map(({ id }) => id)).toEqual([session.id]);
  expect(read.events.length).toBe(events.length + 1);
  expect([names, removed, deleted]).toEqual([['f.txt'], null, null]);
  await expect(typescriptCall('GET', `${base}/${session.id}`)).rejects.toThrow(session.id);
});

it('lets the TypeScript client name a session in the path, with its state in a wrapper', async () => {
  const session = await typescriptCall('POST', `${sessionsPath('chat', 'ts')}/mine`, { state: { a: 1 } });
  const bare = await typescriptCall('POST', `${sessionsPath('chat', 'ts')}/bare`, { state: undefined });

  expect(session).toMatchObject({ id: 'mine', state: { a: 1 } });
  expect(bare).toMatchObject({ id: 'bare', state: {} });
  await expect(typescriptCall('POST', `${sessionsPath('chat', 'ts')}/mine`, {})).rejects.toThrow(/mine/);
});

it('streams to the TypeScript client', async () => {
  const { id } = await newSession(server.client, 'chat');

  const events = await Array.fromAsync(typescriptStream(runBody('chat', id, 'stream', { streaming: true })));

  expect(events.map(({ partial }) => partial ?? false)).toEqual([true, true, true, true, false]);
});

it('makes the TypeScript client throw when a run fails within the stream', async () => {
  const { id } = await newSession(server.client, 'probe');

  const reading = Array.fromAsync(typescriptStream(runBody('probe', id, 'spin', { runConfig: { maxLlmCalls: 2 } })));

  await expect(reading).rejects.toThrow(/./);
});

it('streams to the official UI without a lost or doubled event', async () => {
  const { id } = await newSession(server.client, 'chat');

  const events = await browserStream(runBody('chat', id, 'crawl', { streaming: true }));

  const texts = events.map((event) => event.content!.parts.map((part) => part.text).join(''));
  expect(texts).toHaveLength(11);
  expect(texts.slice(0, 10).join('')).toBe(texts[10]);
});

it('takes what the Python conformance runner sends, in snake_case', async () => {
  const base = sessionsPath('probe', 'adk_conformance_test_user');
  const session = (await typescriptCall('POST', base, { state: { initial: true } })) as WireSession;
  const response = await fetch(`${server.url}/run_sse`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      app_name: 'probe',
      user_id: 'adk_conformance_test_user',
      session_id: session.id,
      new_message: { role: 'user', parts: [{ text: 'remember k v' }] },
      streaming: false,
      state_delta: { snake_key: { inner_key: 1 } },
    }),
  });
  const lines = (await response.text()).split('\n').filter((line) => line.startsWith('data:'));
  const patched = await typescriptCall('PATCH', `${base}/${session.id}`, { state_delta: { patched: 1 } });

  expect(lines.length).toBe(3);
  for (const line of lines) expect(JSON.parse(line.slice(5))).not.toHaveProperty('error');
  expect(patched).toMatchObject({
    state: { initial: true, k: 'v', patched: 1, snake_key: { inner_key: 1 } },
  });
  const read = (await typescriptCall('GET', `${base}/${session.id}`)) as object;
  expect(Object.keys(read).toSorted()).toEqual(['appName', 'events', 'id', 'lastUpdateTime', 'state', 'userId']);
});

it('renames a session as the official UI does', async () => {
  const { path } = await newSession(server.client, 'chat', {
    state: { __session_metadata__: { displayName: 'old', pinned: true } },
  });

  await server.client.patch(path, { stateDelta: { __session_metadata__: { displayName: 'new', pinned: true } } });

  expect((await server.client.get(path)).json).toMatchObject({
    state: { __session_metadata__: { displayName: 'new', pinned: true } },
  });
});

it.each([
  ['/list-apps?relative_path=./', 200],
  ['/version', 200],
  ['/config/telemetry', 200],
  ['/dev/apps/chat/build_graph', 200],
  ['/dev/apps/chat/build_graph_image?dark_mode=false', 200],
  ['/dev/apps/chat/build_graph_image?dark_mode=true', 200],
])('answers the official UI at boot: GET %s with %i', async (path, status) => {
  const answer = await server.client.get(path);

  expect(answer).toHaveStatus(status);
  expect(answer.json).toBeDefined();
});
