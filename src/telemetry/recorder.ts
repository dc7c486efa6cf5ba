import { LinkedList } from '../base/linked-list.ts';
import type { LiveSpan, SpanKind, TraceSummaries, TraceSummary } from '../schemas/extensions.ts';
import type { TraceSpan } from '../schemas/records.ts';
import type { ReadonlySession, SessionKey, SessionOwner } from '../schemas/session.ts';
import { SessionHistory } from './session-history.ts';
import { SessionIndex, type SessionTraces } from './session-index.ts';
import { adkSpan, attributesOf, eventIdKey, listedSpan } from './span-view.ts';
import type { SpanRecord, SpanSink } from './spans.ts';
import { spanBytes, TraceLog } from './trace-record.ts';
import { fits, summarize, type TraceQuery } from './trace-summary.ts';

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
  readonly #order = new LinkedList<TraceLog>();
  readonly #sessions = new SessionIndex<TraceLog>();
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
    const log = this.#logOf(span);
    if (!log || log.isForgotten || log.open >= this.#maxOpen) return;
    this.#bytes += log.opened(span, (this.#marks += 1));
    this.#spans += 1;
    this.#noteSessions(span, log);
    this.#makeRoom(log);
  }

  ended(span: SpanRecord): void {
    const { log } = span;
    if (!(log instanceof TraceLog) || log.isDropped) return;
    this.#bytes += log.ended(span, (this.#marks += 1));
    if (span === log.root) this.#noteSessions(span, log);
    this.#makeRoom(log);
  }

  historyOf(span: SpanRecord, session: ReadonlySession): SessionHistory | undefined {
    const { log } = span;
    if (!(log instanceof TraceLog) || log.isDropped) return undefined;
    if (!log.sessions) this.#index();
    const traces = log.sessions?.find(({ sessionId }) => sessionId === session.id);
    let history = traces?.history;
    if (!history?.leadsTo(session.events)) history = new SessionHistory(this.#maxBytes * historyShare);
    if (traces) traces.history = history;
    if (!log.histories.includes(history)) {
      log.histories = log.histories.length === 0 ? [history] : [...log.histories, history];
      history.holders += 1;
      if (history.holders === 1) this.#bytes += history.bytes;
    }
    this.#bytes -= history.bytes;
    history.extend(session.events);
    this.#bytes += history.bytes;
    this.#releaseHistories(log);
    this.#makeRoom(log);
    return history;
  }

  /** The attributes of the model call or tool call that made an event, with `trace_id` and `span_id`. */
  forEvent(eventId: string): Record<string, unknown> | undefined {
    this.#expire();
    for (let log = this.#order.last; log; log = log.previous) {
      for (let span = log.last; span; span = span.earlier) {
        if (span.attributes[eventIdKey] !== eventId || span.endTime === 0 || !makesEvents(span.kind)) continue;
        return { ...attributesOf(span, this.#captureContent), trace_id: log.id, span_id: span.spanId };
      }
    }
    return undefined;
  }

  /** Every finished span of every trace that touched a session with this id, trace by trace, in the order they began. */
  *forSession(sessionId: string, owner?: Partial<SessionOwner>): Generator<TraceSpan, void, void> {
    for (const log of this.#logsOf(sessionId, owner)) {
      for (const span of log.spans) {
        if (span.endTime === 0 || log.isDropped) continue;
        yield { ...adkSpan(span, attributesOf(span, this.#captureContent)), end_time: span.endTime };
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
  trace(traceId: string): (TraceSummary & { readonly spans: Iterable<LiveSpan> }) | undefined {
    const log = this.#logNamed(traceId);
    return log && { ...summarize(log), spans: log.spans.values().map(listedSpan) };
  }

  /** One span with all its attributes. */
  span(traceId: string, spanId: string): LiveSpan | undefined {
    const span = this.#logNamed(traceId)?.spans.find((one) => one.spanId === spanId);
    return span && { ...listedSpan(span), attributes: attributesOf(span, this.#captureContent) };
  }

  /** The spans of a session that began or ended after the mark of an earlier answer (0: all). */
  changes(sessionId: string, since: number, owner?: Partial<SessionOwner>): ChangedSpans {
    const logs = this.#logsOf(sessionId, owner);
    return {
      spans: logs
        .values()
        .filter((log) => log.mark > since && !log.isDropped)
        .flatMap((log) => log.spans.values().filter((span) => span.mark > since))
        .map(listedSpan),
      mark: this.#marks,
      running: logs.some((log) => log.open > 0),
    };
  }

  /** Drops the traces of a session that is being deleted, and records nothing more of its runs. */
  forget(key: SessionKey): void {
    for (const log of this.#index().find(key)?.logs.slice() ?? []) {
      log.isForgotten = true;
      this.#drop(log);
    }
  }

  #logsOf(sessionId: string, owner?: Partial<SessionOwner>): TraceLog[] {
    this.#expire();
    const sessions = this.#index().withId(sessionId, owner);
    const logs = sessions.flatMap((session) => session.logs);
    return sessions.length > 1 ? logs.toSorted((a, b) => a.place - b.place) : logs;
  }

  /** The log is stored on the TraceRef that all spans of a trace share: a lookup would cost more than the span. */
  #logOf(span: SpanRecord): TraceLog | undefined {
    const { trace } = span;
    if (!trace.isRecorded) return undefined;
    const known = trace.log instanceof TraceLog ? trace.log : undefined;
    if (known && (!known.isDropped || known.isForgotten)) return known;
    if (!known && !this.#admits(trace.beganAt)) {
      trace.isRecorded = false;
      return undefined;
    }
    this.#expire();
    const log = new TraceLog(span, (this.#traceCount += 1), known);
    trace.log = log;
    this.#order.add(log);
    return log;
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

  #logNamed(traceId: string): TraceLog | undefined {
    this.#expire();
    let log = this.#order.last;
    while (log && log.id !== traceId) log = log.previous;
    return log;
  }

  #noteSessions({ attributes }: SpanRecord, log: TraceLog): void {
    for (const key of sessionKeys) {
      const id = attributes[key];
      if (typeof id === 'string' && log.touch(id) && log.sessions)
        log.sessions = [...log.sessions, this.#indexed(log, id)];
    }
  }

  #indexed(log: TraceLog, sessionId: string): SessionTraces<TraceLog> {
    return this.#sessions.add(log.appName, log.userId, sessionId, log);
  }

  /** Indexes the traces that began since the last call. Lazy, because most traces are dropped before a query. */
  #index(): SessionIndex<TraceLog> {
    let log = this.#order.last;
    while (log && !log.sessions) log = log.previous;
    for (log = log ? log.next : this.#order.first; log; log = log.next) {
      const one = log;
      log.sessions = log.sessionIds.map((id) => this.#indexed(one, id));
    }
    return this.#sessions;
  }

  /** A trace with many sessions, or whose session was rolled back often, keeps the latest histories only. */
  #releaseHistories(log: TraceLog): void {
    let bytes = 0;
    for (const history of log.histories) bytes += history.bytes;
    while (log.histories.length > maxHistories || bytes > this.#maxBytes * historyShare * 2) {
      const [oldest, ...others] = log.histories;
      if (!oldest || others.length === 0) return;
      bytes -= oldest.bytes;
      log.histories = others;
      this.#release(oldest);
    }
  }

  #release(history: SessionHistory): void {
    history.holders -= 1;
    if (history.holders > 0) return;
    this.#bytes -= history.bytes;
    history.clear();
  }

  #makeRoom(log: TraceLog): void {
    if (log.bytes > this.#maxBytes * traceShare || log.size > this.#maxSpans) {
      const { bytes, size } = log;
      log.trim();
      this.#bytes -= bytes - log.bytes;
      this.#spans -= size - log.size;
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
    for (let log = this.#order.first; log && log.startTime < endedBefore;) {
      const { next } = log;
      if (log.open === 0 && log.endTime < endedBefore) this.#drop(log);
      log = next;
    }
  }

  #drop(log: TraceLog): void {
    log.isDropped = true;
    log.last = undefined;
    this.#order.remove(log);
    this.#bytes -= log.bytes;
    this.#spans -= log.size;
    for (const history of log.histories) this.#release(history);
    for (const session of log.sessions ?? []) this.#sessions.remove(session, log);
  }
}

const makesEvents = (kind: SpanKind): boolean => kind === 'model' || kind === 'tool' || kind === 'merged_tools';
