import { LinkedList } from '../base/linked-list.ts';
import type { LiveSpan, SpanKind, TraceSummaries, TraceSummary } from '../schemas/extensions.ts';
import type { TraceSpan } from '../schemas/records.ts';
import type { ReadonlySession, SessionKey } from '../schemas/session.ts';
import { SessionHistory } from './session-history.ts';
import { SessionIndex, type SessionTraces } from './session-index.ts';
import { adkSpan, attributesOf, eventIdKey, listedSpan, outlineOf } from './span-view.ts';
import type { SpanRecord, SpanSink } from './spans.ts';
import { spanBytes, TraceRecord } from './trace-record.ts';
import { fits, isWithin, summarize, type TraceQuery, type TraceScope } from './trace-summary.ts';

interface RecorderOptions {
  /** Bytes of memory for all traces; the oldest traces are dropped first. Default 64 MB. */
  readonly maxBytes?: number;
  /** Spans of all traces. Default 50,000. */
  readonly maxSpans?: number;
  /**
   * Traces recorded per second, and as many again in a burst; those beyond are not recorded. Default: no limit. Under load,
   * most traces are dropped unread, and what lives that long costs the garbage collector a tenth of all processor time.
   */
  readonly maxTracesPerSecond?: number | undefined;
  /** Milliseconds that a trace is kept after its last span. Checked on access, without a timer. Default: no limit. */
  readonly ttlMs?: number | undefined;
  /** False: requests, responses, arguments and results read as `{}` (`ADK_CAPTURE_MESSAGE_CONTENT_IN_SPANS`). */
  readonly captureContent?: boolean;
}

/** The spans of a session that began or ended after a mark. */
export interface ChangedSpans {
  readonly spans: Iterable<LiveSpan>;
  readonly mark: number;
  readonly running: boolean;
}

const sessionKeys = ['gcp.vertex.agent.session_id', 'gen_ai.conversation.id'];
/** The share of the memory that one trace may take, and the history of one session. */
const traceShare = 1 / 2;
const historyShare = 1 / 8;
/** The share of a trace's spans that may be open at once. */
const openShare = 1 / 4;
const leastOpen = 16;
/** Session histories that one trace keeps. */
const maxHistories = 100;

/**
 * Keeps the latest traces of the process, including running ones, for the trace endpoints. It drops older ones, so memory
 * stays bounded. Traces may grow, shrink and be dropped while a list of spans is being read.
 */
export class TraceRecorder implements SpanSink {
  readonly #order = new LinkedList<TraceRecord>();
  readonly #sessions = new SessionIndex<TraceRecord>();
  readonly #maxBytes: number;
  readonly #maxSpans: number;
  readonly #maxOpen: number;
  readonly #maxBurst: number;
  readonly #ttlMs: number;
  readonly #captureContent: boolean;
  #bytes = 0;
  #spans = 0;
  #traceCount = 0;
  /** Traces that may begin at once, and since when; every second adds half of `#maxBurst`. */
  #burst: number;
  #burstAt = 0;
  /** Counts starts and ends of spans, so that a reader can ask for changes since a mark. */
  #marks = 0;

  constructor(options: RecorderOptions = {}) {
    const { maxBytes = 64 * 1024 ** 2, maxSpans = 50_000, ttlMs = Infinity, captureContent = true } = options;
    const { maxTracesPerSecond = Infinity } = options;
    this.#maxBytes = maxBytes;
    this.#maxSpans = maxSpans;
    this.#maxOpen = Math.max(leastOpen, Math.min(maxSpans, maxBytes / spanBytes) * traceShare * openShare);
    this.#maxBurst = this.#burst = maxTracesPerSecond * 2;
    this.#ttlMs = ttlMs;
    this.#captureContent = captureContent;
  }

  /** Bytes of memory in use, as estimated. */
  get bytes(): number {
    return this.#bytes;
  }

  opened(span: SpanRecord): void {
    const record = this.#recordOf(span);
    if (!record || record.isForgotten || record.open >= this.#maxOpen) return;
    this.#bytes += record.opened(span, (this.#marks += 1));
    this.#spans += 1;
    this.#noteSessions(span, record);
    this.#makeRoom(record);
  }

  ended(span: SpanRecord): void {
    const { record } = span;
    if (!(record instanceof TraceRecord) || record.isDropped) return;
    this.#bytes += record.ended(span, (this.#marks += 1));
    if (span === record.root) this.#noteSessions(span, record);
    this.#makeRoom(record);
  }

  historyOf(span: SpanRecord, session: ReadonlySession): SessionHistory | undefined {
    const { record } = span;
    if (!(record instanceof TraceRecord) || record.isDropped) return undefined;
    if (!record.sessions) this.#index();
    const traces = record.sessions?.find(({ sessionId }) => sessionId === session.id);
    let history = traces?.history;
    if (!history?.leadsTo(session.events)) history = new SessionHistory(this.#maxBytes * historyShare);
    if (traces) traces.history = history;
    if (!record.histories.includes(history)) {
      record.histories = record.histories.length === 0 ? [history] : [...record.histories, history];
      history.holders += 1;
      if (history.holders === 1) this.#bytes += history.bytes;
    }
    this.#bytes -= history.bytes;
    history.extend(session.events);
    this.#bytes += history.bytes;
    this.#releaseHistories(record);
    this.#makeRoom(record);
    return history;
  }

  /** The attributes of the model call or tool call that made an event, with `trace_id` and `span_id`. */
  forEvent(eventId: string, scope: TraceScope = {}): Record<string, unknown> | undefined {
    this.#expire();
    for (let record = this.#order.last; record; record = record.previous) {
      if (!isWithin(record, scope)) continue;
      for (let span = record.last; span; span = span.earlier) {
        if (span.attributes[eventIdKey] !== eventId || span.endTime === 0 || !makesEvents(span.kind)) continue;
        return { ...this.#attributesOf(span, scope), trace_id: record.id, span_id: span.spanId };
      }
    }
    return undefined;
  }

  /** Every finished span of every trace that touched a session with this id, trace by trace, in the order they began. */
  *forSession(sessionId: string, scope: TraceScope = {}): Generator<TraceSpan, void, void> {
    for (const record of this.#recordsOf(sessionId, scope)) {
      for (const span of record.spans) {
        if (span.endTime === 0 || record.isDropped) continue;
        yield { ...adkSpan(span, this.#attributesOf(span, scope)), end_time: span.endTime };
      }
    }
  }

  /** A page of traces, newest first. */
  list(query: TraceQuery): TraceSummaries {
    this.#expire();
    const { pageSize, cursor = Number.POSITIVE_INFINITY } = query;
    const traces: TraceSummary[] = [];
    let last = 0;
    for (let trace = this.#order.last; trace; trace = trace.previous) {
      if (trace.place >= cursor) continue;
      if (traces.length === pageSize) return { traces, cursor: String(last) };
      last = trace.place;
      const summary = summarize(trace);
      if (fits(summary, query)) traces.push(summary);
    }
    return { traces };
  }

  /** A trace with all its spans, without long attributes. Open spans have no end. */
  trace(traceId: string, scope?: TraceScope): (TraceSummary & { readonly spans: Iterable<LiveSpan> }) | undefined {
    const record = this.#recordNamed(traceId, scope);
    return record && { ...summarize(record), spans: record.spans.values().map(listing(scope)) };
  }

  /** One span with all its attributes. */
  span(traceId: string, spanId: string, scope: TraceScope = {}): LiveSpan | undefined {
    const span = this.#recordNamed(traceId, scope)?.spans.find((one) => one.spanId === spanId);
    return span && { ...listedSpan(span), attributes: this.#attributesOf(span, scope) };
  }

  /** The spans of a session that began or ended after the mark of an earlier answer (0: all). */
  changes(sessionId: string, since: number, scope?: TraceScope): ChangedSpans {
    const records = this.#recordsOf(sessionId, scope);
    return {
      spans: records
        .values()
        .filter((record) => record.mark > since && !record.isDropped)
        .flatMap((record) => record.spans.values().filter((span) => span.mark > since))
        .map(listing(scope)),
      mark: this.#marks,
      running: records.some((record) => record.open > 0),
    };
  }

  /** Drops the traces of a session that is being deleted, and records nothing more of its runs. */
  forget(key: SessionKey): void {
    for (const record of this.#index().find(key)?.traces.slice() ?? []) {
      record.isForgotten = true;
      this.#drop(record);
    }
  }

  #attributesOf(span: SpanRecord, { withContent = true }: TraceScope): Record<string, unknown> {
    return withContent ? attributesOf(span, this.#captureContent) : outlineOf(span);
  }

  #recordsOf(sessionId: string, scope?: TraceScope): TraceRecord[] {
    this.#expire();
    const sessions = this.#index().withId(sessionId, scope);
    const records = sessions.flatMap((session) => session.traces);
    return sessions.length > 1 ? records.toSorted((a, b) => a.place - b.place) : records;
  }

  /** The record is stored on the TraceRef that all spans of a trace share: a lookup would cost more than the span. */
  #recordOf(span: SpanRecord): TraceRecord | undefined {
    const { trace } = span;
    if (!trace.isRecorded) return undefined;
    const known = trace.record instanceof TraceRecord ? trace.record : undefined;
    if (known && (!known.isDropped || known.isForgotten)) return known;
    if (!known && !this.#admits(trace.beganAt)) {
      trace.isRecorded = false;
      return undefined;
    }
    this.#expire();
    const record = new TraceRecord(span, (this.#traceCount += 1), known);
    trace.record = record;
    this.#order.add(record);
    return record;
  }

  /** A token bucket: says whether one more trace is within the rate, at a time in milliseconds of this process. */
  #admits(now: number): boolean {
    if (this.#maxBurst === Infinity) return true;
    this.#burst = Math.min(this.#maxBurst, this.#burst + ((now - this.#burstAt) / 1_000) * (this.#maxBurst / 2));
    this.#burstAt = now;
    if (this.#burst < 1) return false;
    this.#burst -= 1;
    return true;
  }

  /** A trace outside the scope takes as long to look for as one that is not kept. */
  #recordNamed(traceId: string, scope: TraceScope = {}): TraceRecord | undefined {
    this.#expire();
    let record = this.#order.last;
    while (record && !(record.id === traceId && isWithin(record, scope))) record = record.previous;
    return record;
  }

  #noteSessions({ attributes }: SpanRecord, record: TraceRecord): void {
    for (const key of sessionKeys) {
      const id = attributes[key];
      if (typeof id === 'string' && record.touch(id) && record.sessions)
        record.sessions = [...record.sessions, this.#indexed(record, id)];
    }
  }

  #indexed(record: TraceRecord, sessionId: string): SessionTraces<TraceRecord> {
    return this.#sessions.add(record.appName, record.userId, sessionId, record);
  }

  /** Indexes the traces that began since the last call. Lazy, because most traces are dropped before a query. */
  #index(): SessionIndex<TraceRecord> {
    let record = this.#order.last;
    while (record && !record.sessions) record = record.previous;
    for (record = record ? record.next : this.#order.first; record; record = record.next) {
      const one = record;
      record.sessions = record.sessionIds.map((id) => this.#indexed(one, id));
    }
    return this.#sessions;
  }

  /** A trace with many sessions, or whose session was rolled back often, keeps the latest histories only. */
  #releaseHistories(record: TraceRecord): void {
    let bytes = 0;
    for (const history of record.histories) bytes += history.bytes;
    while (record.histories.length > maxHistories || bytes > this.#maxBytes * historyShare * 2) {
      const [oldest, ...others] = record.histories;
      if (!oldest || others.length === 0) return;
      bytes -= oldest.bytes;
      record.histories = others;
      this.#release(oldest);
    }
  }

  #release(history: SessionHistory): void {
    history.holders -= 1;
    if (history.holders > 0) return;
    this.#bytes -= history.bytes;
    history.clear();
  }

  #makeRoom(record: TraceRecord): void {
    if (record.bytes > this.#maxBytes * traceShare || record.size > this.#maxSpans) {
      const { bytes, size } = record;
      record.trim();
      this.#bytes -= bytes - record.bytes;
      this.#spans -= size - record.size;
    }
    while ((this.#bytes > this.#maxBytes || this.#spans > this.#maxSpans) && this.#order.size > 1) {
      const oldest = this.#order.first;
      if (oldest) this.#drop(oldest);
    }
  }

  /** Drops expired traces. They are in the order they began, so a long one may precede others that have ended. */
  #expire(): void {
    if (this.#ttlMs === Infinity) return;
    const endedBefore = (performance.timeOrigin + performance.now() - this.#ttlMs) * 1e6;
    for (let record = this.#order.first; record && record.startTime < endedBefore;) {
      const { next } = record;
      if (record.open === 0 && record.endTime < endedBefore) this.#drop(record);
      record = next;
    }
  }

  #drop(record: TraceRecord): void {
    record.isDropped = true;
    record.last = undefined;
    this.#order.remove(record);
    this.#bytes -= record.bytes;
    this.#spans -= record.size;
    for (const history of record.histories) this.#release(history);
    for (const session of record.sessions ?? []) this.#sessions.remove(session, record);
  }
}

const listing =
  ({ withContent = true }: TraceScope = {}) =>
  (span: SpanRecord): LiveSpan =>
    withContent ? listedSpan(span) : { ...adkSpan(span, outlineOf(span)), kind: span.kind };

const makesEvents = (kind: SpanKind): boolean => kind === 'model' || kind === 'tool' || kind === 'merged_tools';
