import { expect, it } from 'vitest';
import { TraceRecorder } from '../../src/telemetry/recorder.ts';
import { type OpenSpan, openSpan, rootTrace } from '../../src/telemetry/spans.ts';

const owner = { appName: 'app', userId: 'ann' };

const inSession = (recorder: TraceRecorder, sessionId: string): OpenSpan =>
  openSpan('invocation', 'invocation', rootTrace(recorder), {
    'agent_server.app_name': owner.appName,
    'user.id': owner.userId,
    'gcp.vertex.agent.session_id': sessionId,
  });

/** The changes with their spans as an array. */
function changesOf(recorder: TraceRecorder, sessionId: string, since = 0) {
  const { spans, ...rest } = recorder.changes(sessionId, since);
  return { spans: [...spans], ...rest };
}

it('shows a span from its beginning, and again once it ended', () => {
  const recorder = new TraceRecorder();
  const invocation = inSession(recorder, 's');
  const call = openSpan('model', 'call_llm', invocation.context);

  const begun = changesOf(recorder, 's', 0);
  call.end();
  const later = changesOf(recorder, 's', begun.mark);
  invocation.end();
  const ended = changesOf(recorder, 's', later.mark);

  expect(begun.spans.map(({ name, end_time }) => [name, end_time])).toEqual([
    ['invocation', undefined],
    ['call_llm', undefined],
  ]);
  expect(later.spans).toMatchObject([{ name: 'call_llm', end_time: expect.any(Number) }]);
  expect(ended.spans).toMatchObject([{ name: 'invocation', end_time: expect.any(Number) }]);
  expect([begun.running, later.running, ended.running]).toEqual([true, true, false]);
  expect(changesOf(recorder, 's', ended.mark).spans).toEqual([]);
});

it('finds a running trace by its session as soon as one of its spans names it', () => {
  const recorder = new TraceRecorder();
  const invocation = openSpan('invocation', 'invocation', rootTrace(recorder));
  openSpan('agent', 'invoke_agent a', invocation.context, { 'gen_ai.conversation.id': 's' });

  expect(changesOf(recorder, 's', 0).spans.map(({ name }) => name)).toEqual(['invocation', 'invoke_agent a']);
  expect([...recorder.forSession('s')]).toEqual([]);
});

it('sums up a trace: models, calls, tokens and whether it failed', () => {
  const recorder = new TraceRecorder();
  const invocation = inSession(recorder, 's');
  for (const model of ['m1', 'm2', 'm1']) {
    const call = openSpan('model', 'call_llm', invocation.context, { 'gen_ai.request.model': model });
    call.set({ 'gen_ai.usage.input_tokens': 10, 'gen_ai.usage.output_tokens': 1 });
    call.end();
  }
  const tool = openSpan('tool', 'execute_tool search', invocation.context);
  tool.fail(new Error('no network'));
  tool.end();
  openSpan('merged_tools', 'execute_tool (merged)', invocation.context).end();
  invocation.end();

  expect(recorder.list({ pageSize: 9 }).traces).toMatchObject([
    {
      name: 'invocation',
      status: 'error',
      spanCount: 6,
      modelCalls: 3,
      toolCalls: 1,
      inputTokens: 30,
      outputTokens: 3,
      models: ['m1', 'm2'],
      sessionIds: ['s'],
    },
  ]);
});

it('goes by the kind of a span, not by a name that a model may have made up', () => {
  const recorder = new TraceRecorder();
  const invocation = inSession(recorder, 's');
  openSpan('tool', 'execute_tool search (merged)', invocation.context).end();
  openSpan('code', 'execute_tool of some code', invocation.context).end();
  invocation.end();

  expect(recorder.list({ pageSize: 9 }).traces).toMatchObject([{ toolCalls: 1 }]);
  expect(changesOf(recorder, 's', 0).spans.map(({ kind }) => kind)).toEqual(['invocation', 'tool', 'code']);
  expect([...recorder.forSession('s')].filter((span) => 'kind' in span)).toEqual([]);
});

it('survives the end of a span whose trace was dropped meanwhile', () => {
  const recorder = new TraceRecorder();
  const invocation = inSession(recorder, 's');

  recorder.forget({ ...owner, sessionId: 's' });
  invocation.end();

  expect(recorder.list({ pageSize: 9 }).traces).toEqual([]);
  expect([...recorder.forSession('s')]).toEqual([]);
});

it('keeps the latest spans of a trace that goes on and on, and those around them', () => {
  const recorder = new TraceRecorder({ maxSpans: 10 });
  const invocation = inSession(recorder, 'endless');
  for (let turn = 0; turn < 100; turn += 1) {
    openSpan('model', 'call_llm', invocation.context, { 'gcp.vertex.agent.event_id': `e${turn}` }).end();
  }

  const { spans } = changesOf(recorder, 'endless');
  expect(spans.length).toBeLessThanOrEqual(10);
  expect(spans[0]).toMatchObject({ name: 'invocation' });
  expect(spans.at(-1)).toMatchObject({ attributes: { 'gcp.vertex.agent.event_id': 'e99' } });
  expect(recorder.list({ pageSize: 1 }).traces).toMatchObject([{ name: 'invocation', status: 'running' }]);
  invocation.end();
  expect(recorder.list({ pageSize: 1 }).traces).toMatchObject([{ status: 'ok' }]);
});

it('goes on with a trace that others pushed out while it ran, as one of the same session', () => {
  const recorder = new TraceRecorder({ maxSpans: 10 });
  const lasting = inSession(recorder, 'lasting');
  for (let run = 0; run < 20; run += 1) inSession(recorder, `s${run}`).end();

  openSpan('model', 'call_llm', lasting.context, { 'gcp.vertex.agent.session_id': 'lasting' }).end();
  lasting.end();

  expect(recorder.changes('lasting', 0, owner).running).toBe(false);
  expect(changesOf(recorder, 'lasting').spans).toMatchObject([{ name: 'call_llm' }]);
});

it('keeps no more than so many spans of one trace open', () => {
  const recorder = new TraceRecorder({ maxSpans: 100 });
  let inner = inSession(recorder, 'deep');
  for (let depth = 0; depth < 1_000; depth += 1) inner = openSpan('agent', 'invoke_agent a', inner.context);

  expect(changesOf(recorder, 'deep').spans.length).toBeLessThanOrEqual(50);
});
