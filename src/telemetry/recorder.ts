import { Order, type Ordered } from '../base/order.ts';
import { redact } from '../base/redact.ts';
import type { LiveSpan, SpanChanges, Trace, TraceSummaries, TraceSummary } from '../schemas/extensions.ts';
import type { TraceSpan } from '../schemas/records.ts';
import type { SpanRecord, SpanSink } from './spans.ts';
import { fits, summarize, type TraceQuery } from './trace-summary.ts';

/** One trace: the chain of its spans, the one that began last first. */
class TraceLog implements Ordered<TraceLog> {
  readonly id: string;
  /** Counts traces in the order they began. */
  readonly place: number;
  before: TraceLog | undefined = undefined;
  after: TraceLog | undefined = undefined;
  last: SpanRecord | undefined = undefined;
  /** The session it is about, and the others it touched. */
  session: string | undefined = undefined;
  others: string[] | undefined = undefined;
  open = 0;
  /** When its first span began and its last one ended, in epoch nanoseconds. */
  readonly startTime: number;
  endTime = 0;
  weight = 0;
  isDropped = false;

  constructor({ trace, startTime }: SpanRecord, place: number) {
    this.id = trace.id;
    this.startTime = startTime;
    this.place = place;
  }

  /** In the order they began, the open ones included. */
  get spans(): SpanRecord[] {
    const spans: SpanRecord[] = [];
    for (let span = this.last; span; span = span.earlier) spans.push(span);
    return spans.toReversed();
  }

  get sessions(): string[] {
    return this.session === undefined ? [] : [this.session, ...(this.others ?? [])];
  }

  touches(sessionId: string): boolean {
    return this.session === sessionId || this.others?.includes(sessionId) === true;
  }

  touch(sessionId: string): void {
    if (this.touches(sessionId)) return;
    if (this.session === undefined) this.session = sessionId;
    else (this.others ??= []).push(sessionId);
  }
}

interface RecorderOptions {
  /** Spans, and a little for the history they hold on to; the oldest traces go first. Default 50,000. */
  readonly maxWeight?: number;
  /** Milliseconds that a trace is kept after its last span; no timer, whoever comes next pays. Default: no limit. */
  readonly ttlMs?: number | undefined;
  /** False: requests, responses, arguments and results read as `{}` (`ADK_CAPTURE_MESSAGE_CONTENT_IN_SPANS`). */
  readonly captureContent?: boolean;
}

const eventIdKey = 'gcp.vertex.agent.event_id';
const sessionKeys = ['gcp.vertex.agent.session_id', 'gen_ai.conversation.id'];

/**
 * Keeps the latest traces of the process, running ones included, for the trace endpoints. Older ones are dropped, so
 * memory stays bounded. Every run writes and few are read, so there are no indexes: readers look through the traces.
 */
export class TraceRecorder implements SpanSink {
  readonly #order = new Order<TraceLog>();
  readonly #maxWeight: number;
  readonly #ttlMs: number;
  readonly #captureContent: boolean;
  #weight = 0;
  #places = 0;
  /** Counts what happens to spans, so that a reader can ask for what is new. */
  #marks = 0;

  constructor({ maxWeight = 50_000, ttlMs = Infinity, captureContent = true }: RecorderOptions = {}) {
    this.#maxWeight = maxWeight;
    this.#ttlMs = ttlMs;
    this.#captureContent = captureContent;
  }

  opened(span: SpanRecord): void {
    const log = this.#logOf(span);
    if (log.weight > this.#maxWeight) return; // one endless conversation may not hold everything
    span.mark = this.#marks += 1;
    span.earlier = log.last;
    log.last = span;
    log.open += 1;
    noteSessions(span, log);
  }

  ended(span: SpanRecord): void {
    const { log } = span.trace;
    if (span.mark === 0 || !(log instanceof TraceLog) || log.isDropped) return;
    span.mark = this.#marks += 1;
    log.open -= 1;
    log.endTime = span.endTime;
    log.weight += span.weight;
    this.#weight += span.weight;
    noteSessions(span, log);
    while (this.#weight > this.#maxWeight && this.#order.size > 1) this.#dropOldest();
  }

  /** The attributes of the model call or tool call that made an event, with `trace_id` and `span_id`. */
  forEvent(eventId: string): Record<string, unknown> | undefined {
    this.#expire();
    for (let log = this.#order.last; log; log = log.before) {
      for (let span = log.last; span; span = span.earlier) {
        if (span.attributes[eventIdKey] !== eventId || span.endTime === 0 || !makesEvents(span.name)) continue;
        return { ...this.#attributesOf(span), trace_id: log.id, span_id: span.spanId };
      }
    }
    return undefined;
  }

  /** Every finished span of every trace that touched the session, oldest first; empty when there is none. */
  forSession(sessionId: string): TraceSpan[] {
    return this.#logsOf(sessionId)
      .flatMap(({ spans }) => spans)
      .filter((span) => span.endTime !== 0)
      .toSorted((a, b) => a.startTime - b.startTime)
      .map((span) => ({ ...shown(span), end_time: span.endTime, attributes: this.#attributesOf(span) }));
  }

  /** A page of traces, newest first. */
  list(query: TraceQuery): TraceSummaries {
    this.#expire();
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

  /** A trace with all its spans, open ones without an end, all without the values that are long. */
  trace(traceId: string): Trace | undefined {
    const log = this.#logNamed(traceId);
    return log && { ...summarize(log), spans: log.spans.map(shown) };
  }

  /** One span with everything. */
  span(traceId: string, spanId: string): LiveSpan | undefined {
    const span = this.#logNamed(traceId)?.spans.find((one) => one.spanId === spanId);
    return span && { ...shown(span), attributes: this.#attributesOf(span) };
  }

  /** The spans of a session that began or ended after the mark of an earlier answer (0: all). */
  changes(sessionId: string, since: number): SpanChanges {
    const traces = this.#logsOf(sessionId);
    const spans = traces.flatMap((trace) => trace.spans.filter((span) => span.mark > since));
    return {
      spans: spans.map(shown),
      mark: this.#marks,
      running: traces.some((trace) => trace.open > 0),
    };
  }

  /** Drops what was recorded of a session that is being deleted. */
  forget(sessionId: string): void {
    for (const log of this.#logsOf(sessionId)) this.#drop(log);
  }

  #logsOf(sessionId: string): TraceLog[] {
    this.#expire();
    const found: TraceLog[] = [];
    for (let log = this.#order.first; log; log = log.after) if (log.touches(sessionId)) found.push(log);
    return found;
  }

  /** Kept on what all spans of a trace share: looking it up would cost more than the span. */
  #logOf(span: SpanRecord): TraceLog {
    const { trace } = span;
    if (trace.log instanceof TraceLog && !trace.log.isDropped) return trace.log;
    this.#expire();
    const log = new TraceLog(span, (this.#places += 1));
    trace.log = log;
    this.#order.add(log);
    return log;
  }

  #logNamed(traceId: string): TraceLog | undefined {
    this.#expire();
    let log = this.#order.last;
    while (log && log.id !== traceId) log = log.before;
    return log;
  }

  #attributesOf(span: SpanRecord): Record<string, unknown> {
    const attributes: Record<string, unknown> = {};
    for (const [key, value] of Object.entries(span.attributes)) {
      if (typeof value === 'function') attributes[key] = this.#captureContent ? redact(value()) : '{}';
      else attributes[key] = typeof value === 'string' ? redact(value) : value;
    }
    return attributes;
  }

  /** Traces come in the order they began: one that lasts may stand before others that are over. */
  #expire(): void {
    if (this.#ttlMs === Infinity) return;
    const endedBefore = (performance.timeOrigin + performance.now() - this.#ttlMs) * 1e6;
    for (let log = this.#order.first; log && log.startTime < endedBefore;) {
      const { after } = log;
      if (log.open === 0 && log.endTime < endedBefore) this.#drop(log);
      log = after;
    }
  }

  #dropOldest(): void {
    const oldest = this.#order.first;
    if (oldest) this.#drop(oldest);
  }

  #drop(log: TraceLog): void {
    log.isDropped = true;
    this.#order.remove(log);
    this.#weight -= log.weight;
  }
}

const makesEvents = (name: string): boolean => name === 'call_llm' || name.startsWith('execute_tool');

function noteSessions({ attributes }: SpanRecord, log: TraceLog): void {
  for (const key of sessionKeys) {
    const sessionId = attributes[key];
    if (typeof sessionId === 'string') log.touch(sessionId);
  }
}

/** What lists of spans say: names, ids and numbers. All else is read span by span. */
const listedKeys = [
  'gen_ai.operation.name',
  'gen_ai.request.model',
  'gen_ai.usage.input_tokens',
  'gen_ai.usage.output_tokens',
  'gen_ai.usage.cache_read.input_tokens',
  'gen_ai.agent.name',
  'gen_ai.tool.name',
  'gen_ai.tool.call.id',
  'gen_ai.conversation.id',
  eventIdKey,
  'gcp.vertex.agent.invocation_id',
  'gcp.vertex.agent.session_id',
  'agent_server.app_name',
  'agent_server.model.retries',
  'user.id',
  'error.type',
];

function shown(span: SpanRecord): LiveSpan {
  const attributes: Record<string, unknown> = {};
  for (const key of listedKeys) {
    const value = span.attributes[key];
    if (value !== undefined && typeof value !== 'function') attributes[key] = value;
  }
  const failure = span.attributes['error.message'];
  if (typeof failure === 'string') attributes['error.message'] = redact(failure);
  return {
    name: span.name,
    span_id: span.spanId,
    trace_id: span.trace.id,
    start_time: span.startTime,
    ...(span.endTime !== 0 && { end_time: span.endTime }),
    attributes,
    parent_span_id: span.parentId ?? null,
  };
}
