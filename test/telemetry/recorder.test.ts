import { setTimeout as pause } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { TraceRecorder } from '../../src/telemetry/recorder.ts';
import { openSpan, rootTrace } from '../../src/telemetry/spans.ts';

function recordTurn(recorder: TraceRecorder, sessionId: string, eventId: string): void {
  const invocation = openSpan('invocation', rootTrace(recorder), { 'gcp.vertex.agent.session_id': sessionId });
  const call = openSpan('call_llm', invocation.context, { 'gcp.vertex.agent.event_id': eventId });
  call.lazy('gcp.vertex.agent.llm_request', () => JSON.stringify({ key: 'AIzaSyA-secret-secret-secret' }));
  call.end();
  invocation.end();
}

it('finds the spans of a session as one tree', () => {
  const recorder = new TraceRecorder();

  recordTurn(recorder, 's1', 'e1');
  recordTurn(recorder, 's2', 'e2');

  const [root, call, ...rest] = recorder.forSession('s1');
  expect(rest).toEqual([]);
  expect([root?.name, root?.parent_span_id]).toEqual(['invocation', null]);
  expect([call?.name, call?.parent_span_id, call?.trace_id]).toEqual(['call_llm', root?.span_id, root?.trace_id]);
  expect(root!.end_time).toBeGreaterThanOrEqual(root!.start_time);
});

it('gives the attributes of the call that made an event, secrets removed', () => {
  const recorder = new TraceRecorder();

  recordTurn(recorder, 's1', 'e1');

  expect(recorder.forEvent('e1')).toMatchObject({
    'gcp.vertex.agent.event_id': 'e1',
    'gcp.vertex.agent.llm_request': '{"key":"[redacted]"}',
    trace_id: expect.stringMatching(/^[0-9a-f]{32}$/),
    span_id: expect.stringMatching(/^[0-9a-f]{16}$/),
  });
  expect(recorder.forEvent('e2')).toBeUndefined();
});

it('keeps message content out when told so', () => {
  const recorder = new TraceRecorder({ captureContent: false });

  recordTurn(recorder, 's1', 'e1');

  expect(recorder.forEvent('e1')?.['gcp.vertex.agent.llm_request']).toBe('{}');
});

it('drops the oldest traces beyond its bound, and all of a forgotten session', () => {
  const recorder = new TraceRecorder({ maxWeight: 9 });

  for (let turn = 0; turn < 10; turn += 1) recordTurn(recorder, `s${turn}`, `e${turn}`);

  expect(recorder.forSession('s0')).toEqual([]);
  expect(recorder.forEvent('e0')).toBeUndefined();
  expect(recorder.forSession('s9')).toHaveLength(2);
  recorder.forget('s9');
  expect(recorder.forSession('s9')).toEqual([]);
  expect(recorder.forEvent('e9')).toBeUndefined();
});

it('forgets traces after their time, but none that goes on', async () => {
  const recorder = new TraceRecorder({ ttlMs: 200 });
  const lasting = openSpan('invocation', rootTrace(recorder), { 'gcp.vertex.agent.session_id': 'lasting' });
  recordTurn(recorder, 's1', 'e1');
  expect(recorder.forSession('s1')).toHaveLength(2);

  await pause(300);

  expect(recorder.forEvent('e1')).toBeUndefined();
  expect(recorder.forSession('s1')).toEqual([]);
  expect(recorder.list({ pageSize: 10 }).traces).toMatchObject([{ sessionIds: ['lasting'] }]);
  lasting.end();
  expect(recorder.forSession('lasting')).toHaveLength(1);
});
