import { randomBytes } from 'node:crypto';
import { type Context, ROOT_CONTEXT, type Span, SpanStatusCode, trace as otelTrace } from '@opentelemetry/api';
import { errorText } from '../base/errors.ts';
import { measure } from './metrics.ts';

/** What span attributes hold. `null` is not among them: ADK's trace view rejects a whole trace for one null. */
export type AttributeValue = string | number | boolean | readonly string[];
export type Attributes = Record<string, AttributeValue>;

/** What all spans of one trace share. */
export interface TraceRef {
  readonly id: string;
  /** Where the sink keeps them; nobody else's business. */
  log: object | undefined;
}

/** A span as it is kept: values that are functions are made only when somebody reads the trace. Times are epoch nanoseconds. */
export interface SpanRecord {
  readonly name: string;
  readonly trace: TraceRef;
  readonly spanId: string;
  readonly parentId: string | undefined;
  readonly startTime: number;
  endTime: number;
  readonly attributes: Record<string, AttributeValue | (() => string)>;
  /** The span of the same trace that began before it, set by the sink: a growing array would keep room for sixteen more. */
  earlier: SpanRecord | undefined;
  /** What it counts toward the recorder's bound: one, and a little for the history that its lazy values hold on to. */
  weight: number;
  /** The sink's to use; 0 until then. */
  mark: number;
}

/** Told of every span that begins, and ends. The end of an open span's record is 0. */
export interface SpanSink {
  opened?(span: SpanRecord): void;
  ended(span: SpanRecord): void;
}

/** A span that is still open. Pass `context` to the spans inside it (as `ctx.trace`). */
export interface OpenSpan {
  readonly context: object;
  set(attributes: Attributes): void;
  /** A value that is costly to make, such as a whole request. `contents`: how many contents of the history it keeps alive. */
  lazy(name: string, make: () => string, contents?: number): void;
  /** Notes an error; the span still has to end. */
  fail(error: unknown): void;
  end(): void;
}

/** Contents are shared with the session and with later requests, so a trace owns a small part of each. */
const contentsPerWeight = 16;

/** Looked up once: it passes spans on to whatever provider is registered later. */
const tracer = otelTrace.getTracer('gcp.vertex.agent');

/** Where a span stands: its trace, the sink of its run, and the OpenTelemetry context for exporters and for tools' own spans. */
class SpanContext {
  readonly trace: TraceRef | undefined;
  readonly spanId: string | undefined;
  readonly sink: SpanSink | undefined;
  /** Absent inside a trace that nobody exports. */
  readonly otel: Context | undefined;

  constructor(
    trace: TraceRef | undefined,
    spanId: string | undefined,
    sink: SpanSink | undefined,
    otel: Context | undefined,
  ) {
    this.trace = trace;
    this.spanId = spanId;
    this.sink = sink;
    this.otel = otel;
  }
}

/** The outside of a trace: pass it as the parent of an invocation's first span. Ended spans go to `sink`. */
export function rootTrace(sink?: SpanSink): object {
  return new SpanContext(undefined, undefined, sink, ROOT_CONTEXT);
}

/**
 * Opens a span below `parent` (a `context` of another span, or a `rootTrace`). A trace's first span is also opened with
 * the OpenTelemetry API, and those inside it if that one is recorded: a trace is exported whole or not at all.
 */
export function openSpan(name: string, parent: object, attributes: Attributes = {}): OpenSpan {
  return new RecordedSpan(name, parent instanceof SpanContext ? parent : silent, attributes);
}

const silent = new SpanContext(undefined, undefined, undefined, ROOT_CONTEXT);

class RecordedSpan implements OpenSpan {
  readonly context: SpanContext;
  readonly #record: SpanRecord;
  /** Absent when nobody exports it. */
  readonly #otel: Span | undefined;

  constructor(name: string, parent: SpanContext, attributes: Attributes) {
    const span =
      parent.otel && tracer.startSpan(name, { attributes: attributes as Record<string, string> }, parent.otel);
    this.#otel = span?.isRecording() ? span : undefined;
    const exported = this.#otel?.spanContext();
    const ref = parent.trace ?? { id: exported?.traceId ?? randomId(16), log: undefined };
    const spanId = exported?.spanId ?? randomId(8);
    const otel = this.#otel && otelTrace.setSpan(parent.otel ?? ROOT_CONTEXT, this.#otel);
    this.context = new SpanContext(ref, spanId, parent.sink, otel);
    this.#record = {
      name,
      trace: ref,
      spanId,
      parentId: parent.spanId,
      startTime: now(),
      endTime: 0,
      attributes,
      earlier: undefined,
      weight: 1,
      mark: 0,
    };
    parent.sink?.opened?.(this.#record);
  }

  set(attributes: Attributes): void {
    Object.assign(this.#record.attributes, attributes);
    this.#otel?.setAttributes(attributes as Record<string, string>);
  }

  lazy(name: string, make: () => string, contents = 0): void {
    this.#record.attributes[name] = make;
    this.#record.weight += Math.ceil(contents / contentsPerWeight);
    this.#otel?.setAttribute(name, make());
  }

  fail(error: unknown): void {
    const text = errorText(error);
    this.set({ 'error.type': error instanceof Error ? error.name : 'Error', 'error.message': text });
    this.#otel?.setStatus({ code: SpanStatusCode.ERROR, message: text });
  }

  end(): void {
    if (this.#record.endTime !== 0) return;
    this.#record.endTime = now();
    this.#otel?.end();
    measure(this.#record);
    this.context.sink?.ended(this.#record);
  }
}

const { timeOrigin } = performance;
const now = (): number => Math.round((timeOrigin + performance.now()) * 1e6);

// Span ids only have to be unlikely to collide; bytes are drawn in blocks because a call for eight costs as much as one for 8,192.
let pool = '';
let used = 0;

function randomId(bytes: 8 | 16): string {
  const length = bytes * 2;
  if (used + length > pool.length) {
    pool = randomBytes(4_096).toString('hex');
    used = 0;
  }
  used += length;
  return pool.slice(used - length, used);
}
