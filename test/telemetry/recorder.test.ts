import { setTimeout as pause } from 'node:timers/promises';
import { expect, it, vi } from 'vitest';
import type { TraceSpan } from '../../src/schemas/records.ts';
import type { SessionOwner } from '../../src/schemas/session.ts';
import { LazyJson } from '../../src/telemetry/lazy-text.ts';
import { TraceRecorder } from '../../src/telemetry/recorder.ts';
import { openSpan, rootTrace } from '../../src/telemetry/spans.ts';

const ann: SessionOwner = { appName: 'app', userId: 'ann' };
const bob: SessionOwner = { appName: 'app', userId: 'bob' };

function recordTurn(recorder: TraceRecorder, sessionId: string, eventId: string, { appName, userId } = ann): void {
  const invocation = openSpan('invocation', 'invocation', rootTrace(recorder), {
    'agent_server.app_name': appName,
    'user.id': userId,
    'gcp.vertex.agent.session_id': sessionId,
  });
  const call = openSpan('model', 'call_llm', invocation.context, { 'gcp.vertex.agent.event_id': eventId });
  call.setLazy('gcp.vertex.agent.llm_request', new LazyJson({ key: 'AIzaSyA-secret-secret-secret' }), 0);
  call.end();
  invocation.end();
}

const spansIn = (recorder: TraceRecorder, sessionId: string, owner?: Partial<SessionOwner>): TraceSpan[] => [
  ...recorder.forSession(sessionId, owner),
];

it('finds the spans of a session as one tree', () => {
  const recorder = new TraceRecorder();

  recordTurn(recorder, 's1', 'e1');
  recordTurn(recorder, 's2', 'e2');

  const [root, call, ...rest] = spansIn(recorder, 's1');
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
  const recorder = new TraceRecorder({ maxSpans: 9 });

  for (let turn = 0; turn < 10; turn += 1) recordTurn(recorder, `s${turn}`, `e${turn}`);

  expect(spansIn(recorder, 's0')).toEqual([]);
  expect(recorder.forEvent('e0')).toBeUndefined();
  expect(spansIn(recorder, 's9')).toHaveLength(2);
  recorder.forget({ ...ann, sessionId: 's9' });
  expect(spansIn(recorder, 's9')).toEqual([]);
  expect(recorder.forEvent('e9')).toBeUndefined();
});

it('forgets traces after their time, but none that goes on', async () => {
  const recorder = new TraceRecorder({ ttlMs: 200 });
  const lasting = openSpan('invocation', 'invocation', rootTrace(recorder), {
    'gcp.vertex.agent.session_id': 'lasting',
  });
  recordTurn(recorder, 's1', 'e1');
  expect(spansIn(recorder, 's1')).toHaveLength(2);

  await pause(300);

  expect(recorder.forEvent('e1')).toBeUndefined();
  expect(spansIn(recorder, 's1')).toEqual([]);
  expect(recorder.list({ pageSize: 10 }).traces).toMatchObject([{ sessionIds: ['lasting'] }]);
  lasting.end();
  expect(spansIn(recorder, 'lasting')).toHaveLength(1);
});

it('tells sessions of the same id apart by app and user', () => {
  const recorder = new TraceRecorder();
  const carol = { appName: 'other', userId: 'ann' };
  recordTurn(recorder, 'same', 'e1', ann);
  recordTurn(recorder, 'same', 'e2', bob);
  recordTurn(recorder, 'same', 'e3', carol);
  recordTurn(recorder, 'same', 'e4', ann);

  expect(spansIn(recorder, 'same')).toHaveLength(8);
  expect(spansIn(recorder, 'same', { appName: 'app' })).toHaveLength(6);
  expect(spansIn(recorder, 'same', ann)).toHaveLength(4);
  expect(recorder.list({ pageSize: 9, userId: 'bob' }).traces).toMatchObject([bob]);

  recorder.forget({ ...bob, sessionId: 'same' });

  expect(['e1', 'e2', 'e3', 'e4'].map((id) => recorder.forEvent(id) !== undefined)).toEqual([true, false, true, true]);
  recorder.forget({ ...ann, sessionId: 'same' });
  recorder.forget({ ...carol, sessionId: 'same' });
  expect(spansIn(recorder, 'same')).toEqual([]);
  expect(recorder.bytes).toBe(0);
});

it('records nothing more of a session that was forgotten while it had a run', () => {
  const recorder = new TraceRecorder();
  const invocation = openSpan('invocation', 'invocation', rootTrace(recorder), {
    'agent_server.app_name': 'app',
    'user.id': 'ann',
    'gcp.vertex.agent.session_id': 's',
  });

  recorder.forget({ ...ann, sessionId: 's' });
  openSpan('model', 'call_llm', invocation.context, { 'gcp.vertex.agent.session_id': 's' }).end();
  invocation.end();

  expect(spansIn(recorder, 's')).toEqual([]);
  expect(recorder.list({ pageSize: 9 }).traces).toEqual([]);
  expect(recorder.bytes).toBe(0);
});

it('is bounded in bytes, whatever spans hold', () => {
  const recorder = new TraceRecorder({ maxBytes: 1_000_000 });

  for (let turn = 0; turn < 100; turn += 1) {
    const span = openSpan('invocation', 'invocation', rootTrace(recorder), {
      'gcp.vertex.agent.session_id': `s${turn}`,
    });
    span.setLazy('gcp.vertex.agent.llm_response', new LazyJson({}), 100_000);
    span.end();
    expect(recorder.bytes).toBeLessThanOrEqual(1_000_000);
  }

  expect(recorder.list({ pageSize: 99 }).traces).toHaveLength(9);
});

it('counts open spans, and holds no text in attributes that a client or model has made long', () => {
  const recorder = new TraceRecorder({ maxBytes: 1_000_000 });
  const long = 'x'.repeat(10_000_000);
  const span = openSpan('tool', `execute_tool ${long}`, rootTrace(recorder), { 'gen_ai.tool.name': long });
  span.set({ 'agent_server.model.retry_reasons': Array.from({ length: 1_000 }, () => long) });
  expect(recorder.bytes).toBeGreaterThan(0);
  span.fail(new Error(`postgres://ann:secret@db ${long}`));
  span.end();

  expect(recorder.bytes).toBeLessThan(200_000);
  const [{ traceId } = { traceId: '' }] = recorder.list({ pageSize: 1 }).traces;
  const { spans } = recorder.trace(traceId)!;
  const [shown] = [...spans];
  expect(shown?.name).toContain('… [cut: it has 10000013 characters]');
  const message = String(shown?.attributes['error.message']);
  expect(message.slice(0, 40)).toBe('postgres://ann:[redacted]@db xxxxxxxxxxx');
  expect(message.slice(-40)).toMatch(/… \[cut: it has \d+ characters\]$/);
});

it('records a burst of traces, then so many per second, and nothing of the others', () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  try {
    const recorder = new TraceRecorder({ maxTracesPerSecond: 2 });
    const run = (name: string): boolean => {
      recordTurn(recorder, name, name);
      return spansIn(recorder, name).length === 2;
    };

    expect(['a', 'b', 'c', 'd', 'e', 'f'].map(run)).toEqual([true, true, true, true, false, false]);
    vi.advanceTimersByTime(1_000);
    expect(['g', 'h', 'i'].map(run)).toEqual([true, true, false]);
    vi.advanceTimersByTime(60_000);
    expect(['j', 'k', 'l', 'm', 'n'].map(run)).toEqual([true, true, true, true, false]);

    expect(recorder.list({ pageSize: 100 }).traces).toHaveLength(10);
    expect(recorder.forEvent('e')).toBeUndefined();
  } finally {
    vi.useRealTimers();
  }
});

it('says of a span whether its attributes are recorded', () => {
  const recorder = new TraceRecorder({ maxTracesPerSecond: 1 });
  const open = () => openSpan('invocation', 'invocation', rootTrace(recorder));

  expect([open(), open(), open()].map((span) => span.isRecorded)).toEqual([true, true, false]);
  expect(openSpan('invocation', 'invocation', rootTrace()).isRecorded).toBe(false);
});
