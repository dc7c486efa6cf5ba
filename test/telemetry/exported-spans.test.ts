import { type Context, type Span, type SpanContext, trace, TraceFlags, type Tracer } from '@opentelemetry/api';
import { beforeEach, expect, it } from 'vitest';
import { openTelemetry } from '../../src/telemetry/open-telemetry.ts';
import { openSpan, rootTrace, type SpanRecord } from '../../src/telemetry/spans.ts';

interface Started {
  readonly name: string;
  readonly spanId: string;
  readonly parentId: string | undefined;
}

/** What the tracer was asked for in this test, and whether it records that. */
let started: Started[] = [];
let isSampled = false;

// For the whole file: whoever has asked a provider for a tracer once keeps it.
trace.setGlobalTracerProvider({ getTracer: () => ({ startSpan }) as unknown as Tracer });

beforeEach(() => {
  started = [];
  isSampled = false;
});

function startSpan(name: string, _options: unknown, above: Context): Span {
  const spanId = String(started.length + 1).padStart(16, 'a');
  started.push({ name, spanId, parentId: trace.getSpanContext(above)?.spanId });
  const context: SpanContext = { traceId: 'b'.repeat(32), spanId, traceFlags: TraceFlags.NONE };
  return Object.assign(trace.wrapSpanContext(context), { isRecording: () => isSampled });
}

/** Three spans, each inside the one before, as they were kept. */
function nested(): SpanRecord[] {
  const kept: SpanRecord[] = [];
  const run = openSpan('invocation', 'invocation', rootTrace({ ended: (span) => kept.push(span) }, openTelemetry));
  const agent = openSpan('agent', 'invoke_agent a', run.context);
  const call = openSpan('model', 'call_llm', agent.context);
  for (const span of [call, agent, run]) span.end();
  return kept.toReversed();
}

it('gives spans of a trace ids of their own, and inner ones the id of the outer', () => {
  const spans = nested();
  const ids = spans.map(({ spanId }) => spanId);

  expect(new Set(ids).size).toBe(3);
  for (const id of ids) expect(id).toMatch(/^[\da-f]{16}$/);
  expect(spans.map(({ parentId }) => parentId)).toEqual([undefined, ids[0], ids[1]]);
  expect(new Set(spans.map((span) => span.trace.id)).size).toBe(1);
  expect(nested()[0]?.spanId).not.toBe(ids[0]);
});

it('exports a recorded trace whole, under the ids it was exported with', () => {
  isSampled = true;

  const spans = nested();

  expect(started.map(({ name }) => name)).toEqual(['invocation', 'invoke_agent a', 'call_llm']);
  expect(started.map(({ parentId }) => parentId)).toEqual([undefined, started[0]?.spanId, started[1]?.spanId]);
  expect(spans.map(({ spanId }) => spanId)).toEqual(started.map(({ spanId }) => spanId));
  expect(spans[0]?.trace.id).toBe('b'.repeat(32));
});

it('opens nothing below a span that is not sampled, and keeps its own trace all the same', () => {
  const spans = nested();

  expect(started.map(({ name }) => name)).toEqual(['invocation']);
  expect(spans).toHaveLength(3);
});
