import { Order, type Ordered } from '../base/order.ts';
import { redact } from '../base/redact.ts';
import type { LiveSpan, SpanChanges, Trace, TraceSummaries, TraceSummary } from '../schemas/extensions.ts';
import type { TraceSpan } from '../schemas/records.ts';
import type { SpanRecord, SpanSink } from './spans.ts';
import { fits, summarize, type TraceQuery } from './trace-summary.ts';

interface TraceLog extends Ordered<TraceLog> {
  readonly id: string;
  /** Counts traces in the order they began. */
  readonly place: number;
  /** In the order they began, the open ones included. */
  readonly spans: SpanRecord[];
  readonly sessions: string[];
  open: number;
  weight: number;
}

interface RecorderOptions {
  /** Spans, and a little for the history they hold on to; the oldest traces go first. Default 50,000. */
  readonly maxWeight?: number;
  /** False: requests, responses, arguments and results read as `{}` (`ADK_CAPTURE_MESSAGE_CONTENT_IN_SPANS`). */
  readonly captureContent?: boolean;
}

const eventIdKey = 'gcp.vertex.agent.event_id';
const sessionKeys = ['gcp.vertex.agent.session_id', 'gen_ai.conversation.id'];

/** Keeps the latest traces of the process, running ones included, for the trace endpoints. Older ones are dropped, so memory stays bounded. */
export class TraceRecorder implements SpanSink {
  readonly #traces = new Map<string, TraceLog>();
  readonly #order = new Order<TraceLog>();
  readonly #bySession = new Map<string, TraceLog[]>();
  readonly #byEvent = new Map<string, SpanRecord>();
  readonly #maxWeight: number;
  readonly #captureContent: boolean;
  #weight = 0;
  #places = 0;
  /** Counts what happens to spans, so that a reader can ask for what is new. */
  #marks = 0;
  /** The trace of the span that ended last: most often the next one's, too. */
  #latest: TraceLog | undefined;

  constructor({ maxWeight = 50_000, captureContent = true }: RecorderOptions = {}) {
    this.#maxWeight = maxWeight;
    this.#captureContent = captureContent;
  }

  opened(span: SpanRecord): void {
    const trace = this.#traceOf(span.traceId);
    if (trace.weight > this.#maxWeight) return; // one endless conversation may not hold everything
    span.mark = this.#marks += 1;
    trace.spans.push(span);
    trace.open += 1;
    this.#indexSession(span, trace);
  }

  ended(span: SpanRecord): void {
    if (span.mark === 0) return;
    const trace = this.#latest?.id === span.traceId ? this.#latest : this.#traces.get(span.traceId);
    if (!trace) return; // dropped meanwhile
    span.mark = this.#marks += 1;
    trace.open -= 1;
    trace.weight += span.weight;
    this.#weight += span.weight;
    this.#indexSession(span, trace);
    const eventId = span.attributes[eventIdKey];
    if (typeof eventId === 'string' && (span.name === 'call_llm' || span.name.startsWith('execute_tool'))) {
      this.#byEvent.set(eventId, span);
    }
    while (this.#weight > this.#maxWeight && this.#order.size > 1) this.#dropOldest();
  }

  /** The attributes of the model call or tool call that made an event, with `trace_id` and `span_id`. */
  forEvent(eventId: string): Record<string, unknown> | undefined {
    const span = this.#byEvent.get(eventId);
    return span && { ...this.#attributesOf(span), trace_id: span.traceId, span_id: span.spanId };
  }

  /** Every finished span of every trace that touched the session, oldest first; empty when there is none. */
  forSession(sessionId: string): TraceSpan[] {
    const spans = (this.#bySession.get(sessionId) ?? []).flatMap((trace) => trace.spans);
    return spans
      .filter((span) => span.endTime !== 0)
      .toSorted((a, b) => a.startTime - b.startTime)
      .map((span) => ({ ...this.#shown(span), end_time: span.endTime }));
  }

  /** A page of traces, newest first. */
  list(query: TraceQuery): TraceSummaries {
    const { pageSize, cursor = Number.POSITIVE_INFINITY } = query;
    const traces: TraceSummary[] = [];
    let last = 0;
    for (let trace = this.#order.last; trace; trace = trace.before) {
      if (trace.place >= cursor) continue;
      if (traces.length === pageSize) return { traces, cursor: String(last) };
      last = trace.place;
      const summary = summarize(trace);
      if (fits(summary, query)) traces.push(summary);
    }
    return { traces };
  }

  /** A trace with all its spans, open ones without an end. */
  trace(traceId: string): Trace | undefined {
    const trace = this.#traces.get(traceId);
    return trace && { ...summarize(trace), spans: trace.spans.map((span) => this.#shown(span)) };
  }

  /** The spans of a session that began or ended after the mark of an earlier answer (0: all). */
  changes(sessionId: string, since: number): SpanChanges {
    const traces = this.#bySession.get(sessionId) ?? [];
    const spans = traces.flatMap((trace) => trace.spans.filter((span) => span.mark > since));
    return {
      spans: spans.map((span) => this.#shown(span)),
      mark: this.#marks,
      running: traces.some((trace) => trace.open > 0),
    };
  }

  /** Drops what was recorded of a session that is being deleted. */
  forget(sessionId: string): void {
    const traces = this.#bySession.get(sessionId)?.slice() ?? [];
    for (const trace of traces) this.#drop(trace);
  }

  #traceOf(id: string): TraceLog {
    if (this.#latest?.id === id) return this.#latest;
    const known = this.#traces.get(id);
    if (known) return (this.#latest = known);
    const place = (this.#places += 1);
    const trace: TraceLog = {
      id,
      place,
      spans: [],
      sessions: [],
      open: 0,
      weight: 0,
      before: undefined,
      after: undefined,
    };
    this.#traces.set(id, trace);
    this.#order.add(trace);
    this.#latest = trace;
    return trace;
  }

  #indexSession(span: SpanRecord, trace: TraceLog): void {
    for (const key of sessionKeys) {
      const sessionId = span.attributes[key];
      if (typeof sessionId !== 'string' || trace.sessions.includes(sessionId)) continue;
      trace.sessions.push(sessionId);
      const traces = this.#bySession.get(sessionId);
      if (traces) traces.push(trace);
      else this.#bySession.set(sessionId, [trace]);
    }
  }

  #shown(span: SpanRecord): LiveSpan {
    return {
      name: span.name,
      span_id: span.spanId,
      trace_id: span.traceId,
      start_time: span.startTime,
      ...(span.endTime !== 0 && { end_time: span.endTime }),
      attributes: this.#attributesOf(span),
      parent_span_id: span.parentId ?? null,
    };
  }

  #attributesOf(span: SpanRecord): Record<string, unknown> {
    const attributes: Record<string, unknown> = {};
    for (const [key, value] of Object.entries(span.attributes)) {
      if (typeof value === 'function') attributes[key] = this.#captureContent ? redact(value()) : '{}';
      else attributes[key] = typeof value === 'string' ? redact(value) : value;
    }
    return attributes;
  }

  #dropOldest(): void {
    const oldest = this.#order.first;
    if (oldest) this.#drop(oldest);
  }

  #drop(trace: TraceLog): void {
    this.#traces.delete(trace.id);
    if (this.#latest === trace) this.#latest = undefined;
    this.#order.remove(trace);
    this.#weight -= trace.weight;
    for (const sessionId of trace.sessions) {
      const traces = this.#bySession.get(sessionId);
      if (traces && traces.length > 1) traces.splice(traces.indexOf(trace), 1);
      else this.#bySession.delete(sessionId);
    }
    for (const span of trace.spans) {
      const eventId = span.attributes[eventIdKey];
      if (typeof eventId === 'string' && this.#byEvent.get(eventId) === span) this.#byEvent.delete(eventId);
    }
  }
}
