import { afterAll, beforeAll, expect, it } from 'vitest';
import { newSession, readSession, runBody, runEvents } from './client.ts';
import { type ProbeServer, startProbeServer } from './probe-server.ts';
import { readSpans, type Span } from './trace-rules.ts';

let server: ProbeServer;
beforeAll(async () => {
  server = await startProbeServer();
});
afterAll(() => server.stop());

const spansOf = async (session: string, app = 'probe'): Promise<Span[]> =>
  readSpans(await server.client.get(`/dev/apps/${app}/debug/trace/session/${session}`));
const valueOf = (span: Span | undefined, key: string): unknown => span?.attributes?.[key];
const agent = 'gcp.vertex.agent';

it.each(['/dev/apps/probe/debug/trace/session/none', '/debug/trace/session/none'])(
  'GET %s answers an empty list for an unknown session',
  async (path) => {
    const answer = await server.client.get(path);

    expect([answer.status, answer.text]).toEqual([200, '[]']);
  },
);

it('records invocation, agent, model calls and tools as one tree, in every spelling of the route', async () => {
  const { id } = await newSession(server.client, 'probe');
  const events = await runEvents(server.client, runBody('probe', id, 'echo hi'));

  const spans = await spansOf(id);

  expect(readSpans(await server.client.get(`/debug/trace/session/${id}`))).toEqual(spans);
  const [root, ...others] = spans.filter((span) => !spans.some((other) => other.span_id === span.parent_span_id));
  expect(others).toEqual([]);
  expect(root).toMatchObject({ name: 'invocation' });
  expect(root!.parent_span_id ?? null).toBeNull();
  expect(new Set(spans.map((span) => span.trace_id)).size).toBe(1);
  const parentOf = (span: Span): string | undefined =>
    spans.find((other) => other.span_id === span.parent_span_id)?.name;
  const named = (name: string): Span[] => spans.filter((span) => span.name === name);
  expect(named('invoke_agent probe_agent').map(parentOf)).toEqual(['invocation']);
  expect(named('call_llm')).toHaveLength(2);
  expect(named('call_llm').map(parentOf)).toEqual(['invoke_agent probe_agent', 'invoke_agent probe_agent']);
  expect(named('execute_tool echo')).toHaveLength(1);
  expect(valueOf(named('invoke_agent probe_agent')[0], 'gen_ai.conversation.id')).toBe(id);
  expect(spans.map((span) => valueOf(span, `${agent}.invocation_id`))).toContain(events[0]!.invocationId);
});

it('tells times as numbers of nanoseconds, each span within its parent', async () => {
  const { id } = await newSession(server.client, 'probe');
  const before = Date.now() * 1e6;
  await runEvents(server.client, runBody('probe', id, 'echo hi'));

  for (const span of await spansOf(id)) {
    expect(span.start_time).toBeGreaterThan(before - 1e9);
    expect(span.end_time).toBeLessThan(Date.now() * 1e6 + 1e9);
    expect(span.end_time).toBeGreaterThanOrEqual(span.start_time);
  }
});

it('ties model calls to their events, with request and response as JSON texts', async () => {
  const { id } = await newSession(server.client, 'probe');
  const [call, , text] = await runEvents(server.client, runBody('probe', id, 'echo hi'));

  const spans = await spansOf(id);

  for (const event of [call!, text!]) {
    const span = spans.find(
      (item) => valueOf(item, `${agent}.event_id`) === event.id && ['call_llm'].includes(item.name),
    );
    expect(span, `a call_llm span of ${event.id}`).toBeDefined();
    const request: unknown = JSON.parse(valueOf(span, `${agent}.llm_request`) as string);
    const response: unknown = JSON.parse(valueOf(span, `${agent}.llm_response`) as string);
    expect(request).toMatchObject({ contents: expect.any(Array) as unknown });
    expect(response).toMatchObject({ content: event.content });
  }
});

it.each(['/debug/trace/', '/dev/apps/probe/debug/trace/'])(
  'GET %s{event} answers the attributes of one event',
  async (path) => {
    const { id } = await newSession(server.client, 'probe');
    const [call, response, text] = await runEvents(server.client, runBody('probe', id, 'echo hi'));

    for (const event of [call!, text!]) {
      const trace = await server.client.get(path + event.id);
      expect(trace).toHaveStatus(200);
      expect(trace.json).toMatchObject({
        [`${agent}.event_id`]: event.id,
        [`${agent}.invocation_id`]: event.invocationId,
        [`${agent}.session_id`]: id,
        [`${agent}.llm_request`]: expect.any(String) as unknown,
        trace_id: expect.anything() as unknown,
        span_id: expect.anything() as unknown,
      });
    }
    const tool = await server.client.get(path + response!.id);
    expect(tool.json).toMatchObject({
      [`${agent}.event_id`]: response!.id,
      'gen_ai.tool.name': 'echo',
      [`${agent}.tool_call_args`]: expect.stringContaining('hi') as unknown,
    });
  },
);

it.each(['/debug/trace/none', '/dev/apps/probe/debug/trace/none'])('GET %s answers 404', async (path) => {
  expect(await server.client.get(path)).toBeProblem(404, 'trace_not_found');
});

it.each([
  ['chat', 'boom'],
  ['chat', 'think'],
  ['chat', 'stream'],
  ['probe', 'throws'],
  ['probe', 'unknown'],
  ['probe', 'three'],
  ['probe', 'odd circular'],
  ['team', 'work'],
  ['team', 'write'],
])('keeps the trace of %s answering "%s" readable for the official UI', async (app, text) => {
  const { id } = await newSession(server.client, app);
  await server.client.post('/run_sse', runBody(app, id, text, { streaming: true }));

  const spans = await spansOf(id, app);

  expect(spans.map(({ name }) => name)).toEqual(expect.arrayContaining(['invocation', 'call_llm']));
});

it('keeps the trace of a run that failed readable', async () => {
  const { id } = await newSession(server.client, 'probe');
  await server.client.post('/run', runBody('probe', id, 'spin', { runConfig: { maxLlmCalls: 2 } }));

  expect((await spansOf(id)).filter(({ name }) => name === 'call_llm').length).toBeGreaterThanOrEqual(2);
});

it('groups the turns of a session by trace, and shows no other session', async () => {
  const [first, second] = await Promise.all([newSession(server.client, 'probe'), newSession(server.client, 'probe')]);
  await runEvents(server.client, runBody('probe', first.id, 'echo one'));
  await runEvents(server.client, runBody('probe', first.id, 'echo two'));
  await runEvents(server.client, runBody('probe', second.id, 'echo other'));

  const spans = await spansOf(first.id);

  expect(new Set(spans.map((span) => span.trace_id)).size).toBe(2);
  expect(JSON.stringify(spans)).not.toContain('other');
});

it('forgets the traces of a deleted session', async () => {
  const { id, path } = await newSession(server.client, 'probe');
  await runEvents(server.client, runBody('probe', id, 'echo hi'));
  expect((await readSession(server.client, path)).events).toHaveLength(4);

  await server.client.delete(path);

  expect(await spansOf(id)).toEqual([]);
});
