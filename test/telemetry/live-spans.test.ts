import { expect, it } from 'vitest';
import { TraceRecorder } from '../../src/telemetry/recorder.ts';
import { type OpenSpan, openSpan, rootTrace } from '../../src/telemetry/spans.ts';

const inSession = (recorder: TraceRecorder, sessionId: string): OpenSpan =>
  openSpan('invocation', rootTrace(recorder), { 'gcp.vertex.agent.session_id': sessionId });

it('shows a span from its beginning, and again once it ended', () => {
  const recorder = new TraceRecorder();
  const invocation = inSession(recorder, 's');
  const call = openSpan('call_llm', invocation.context);

  const begun = recorder.changes('s', 0);
  call.end();
  const later = recorder.changes('s', begun.mark);
  invocation.end();
  const ended = recorder.changes('s', later.mark);

  expect(begun.spans.map(({ name, end_time }) => [name, end_time])).toEqual([
    ['invocation', undefined],
    ['call_llm', undefined],
  ]);
  expect(later.spans).toMatchObject([{ name: 'call_llm', end_time: expect.any(Number) }]);
  expect(ended.spans).toMatchObject([{ name: 'invocation', end_time: expect.any(Number) }]);
  expect([begun.running, later.running, ended.running]).toEqual([true, true, false]);
  expect(recorder.changes('s', ended.mark).spans).toEqual([]);
});

it('finds a running trace by its session as soon as one of its spans names it', () => {
  const recorder = new TraceRecorder();
  const invocation = openSpan('invocation', rootTrace(recorder));
  openSpan('invoke_agent a', invocation.context, { 'gen_ai.conversation.id': 's' });

  expect(recorder.changes('s', 0).spans.map(({ name }) => name)).toEqual(['invocation', 'invoke_agent a']);
  expect(recorder.forSession('s')).toEqual([]);
});

it('sums up a trace: models, calls, tokens and whether it failed', () => {
  const recorder = new TraceRecorder();
  const invocation = inSession(recorder, 's');
  for (const model of ['m1', 'm2', 'm1']) {
    const call = openSpan('call_llm', invocation.context, { 'gen_ai.request.model': model });
    call.set({ 'gen_ai.usage.input_tokens': 10, 'gen_ai.usage.output_tokens': 1 });
    call.end();
  }
  const tool = openSpan('execute_tool search', invocation.context);
  tool.fail(new Error('no network'));
  tool.end();
  openSpan('execute_tool (merged)', invocation.context).end();
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

it('survives the end of a span whose trace was dropped meanwhile', () => {
  const recorder = new TraceRecorder();
  const invocation = inSession(recorder, 's');

  recorder.forget('s');
  invocation.end();

  expect(recorder.list({ pageSize: 9 }).traces).toEqual([]);
  expect(recorder.forSession('s')).toEqual([]);
});

it('keeps within its bound while a trace goes on and on', () => {
  const recorder = new TraceRecorder({ maxWeight: 10 });
  const invocation = inSession(recorder, 'endless');
  for (let turn = 0; turn < 100; turn += 1) openSpan('call_llm', invocation.context).end();

  expect(recorder.changes('endless', 0).spans.length).toBeLessThanOrEqual(12);
});
