import type { ListNode } from '../base/linked-list.ts';
import type { SessionHistory } from './session-history.ts';
import type { SessionTraces } from './session-index.ts';
import type { SpanRecord } from './spans.ts';
import { memoryBytes, truncate } from './truncate.ts';

/** Memory of a span without long texts, including its share of the trace and session records. */
export const spanBytes = 500;
/** Texts up to this length, in characters, are part of `spanBytes`. */
const shortLength = 128;
/** Bytes of one attribute that are kept. */
const maxAttributeBytes = 32 * 1024;
/** Sessions under which one trace is indexed: each call of an agent that is a tool has a session of its own. */
const maxSessions = 100;

/** Shared by traces without entries. Arrays are replaced, not pushed to: a growing array reserves sixteen slots. */
const none: readonly never[] = [];

/** One trace: the chain of its spans, the one that began last first. */
export class TraceRecord implements ListNode<TraceRecord> {
  readonly id: string;
  /** Counts traces in the order they began. */
  readonly place: number;
  /** The span around all others. It may have been dropped. */
  readonly root: SpanRecord;
  previous: TraceRecord | undefined = undefined;
  next: TraceRecord | undefined = undefined;
  last: SpanRecord | undefined = undefined;
  /** The trace's own session, and others that its spans name. */
  sessionIds: readonly string[] = none;
  /** Their index entries; absent until the first query by session. */
  sessions: readonly SessionTraces<TraceRecord>[] | undefined = undefined;
  histories: readonly SessionHistory[] = none;
  open = 0;
  /** Number of kept spans. */
  size = 0;
  /** Estimated memory, without the histories. */
  bytes = 0;
  /** The recorder's count when one of its spans last began or ended. */
  mark = 0;
  /** When its last span ended, in epoch nanoseconds. */
  endTime = 0;
  isDropped = false;
  /** Whether its session was deleted: nothing more of it is recorded. */
  isForgotten = false;

  /** `earlier`: the record of the same trace that was dropped, if any. */
  constructor(span: SpanRecord, place: number, earlier: TraceRecord | undefined) {
    this.id = span.trace.id;
    this.root = earlier?.root ?? span;
    this.place = place;
  }

  /** When it began, in epoch nanoseconds. */
  get startTime(): number {
    return this.root.startTime;
  }

  /** The app and the user of its sessions; empty until a span names them. */
  get appName(): string {
    const appName = this.root.attributes['agent_server.app_name'];
    return typeof appName === 'string' ? appName : '';
  }

  get userId(): string {
    const userId = this.root.attributes['user.id'];
    return typeof userId === 'string' ? userId : '';
  }

  /** In the order they began, the open ones included. */
  get spans(): SpanRecord[] {
    const spans: SpanRecord[] = [];
    for (let span = this.last; span; span = span.earlier) spans.push(span);
    return spans.toReversed();
  }

  /** Adds a session. Returns false if it was known, or if there are too many. */
  touch(sessionId: string): boolean {
    const { sessionIds } = this;
    if (sessionIds.length === 0) this.sessionIds = [sessionId];
    else if (sessionIds.length === maxSessions || sessionIds.includes(sessionId)) return false;
    else this.sessionIds = [...sessionIds, sessionId];
    return true;
  }

  /** Returns the bytes it holds more. */
  opened(span: SpanRecord, mark: number): number {
    span.record = this;
    span.earlier = this.last;
    this.last = span;
    this.open += 1;
    this.size += 1;
    this.bytes += spanBytes;
    this.mark = span.mark = mark;
    return spanBytes;
  }

  /** Returns the bytes it holds more. */
  ended(span: SpanRecord, mark: number): number {
    span.bytes += shorten(span.attributes);
    this.open -= 1;
    this.bytes += span.bytes;
    this.endTime = span.endTime;
    this.mark = span.mark = mark;
    return span.bytes;
  }

  /** Drops the older half of the ended spans. */
  trim(): void {
    const bytes = this.bytes / 2;
    const size = this.size / 2;
    let newer: SpanRecord | undefined;
    let kept = { bytes: 0, size: 0 };
    for (let span = this.last; span; span = span.earlier) {
      const after = { bytes: kept.bytes + spanBytes + span.bytes, size: kept.size + 1 };
      if (span.endTime === 0 || (after.bytes <= bytes && after.size <= size)) {
        if (newer) newer.earlier = span;
        else this.last = span;
        newer = span;
        kept = after;
      } else {
        span.record = undefined;
        this.bytes -= spanBytes + span.bytes;
        this.size -= 1;
      }
    }
    if (newer) newer.earlier = undefined;
    else this.last = undefined;
  }
}

/** Truncates long attributes and returns the bytes of those that are still long. LazyTexts were counted when set. */
function shorten(attributes: SpanRecord['attributes']): number {
  let bytes = 0;
  for (const key in attributes) {
    const value = attributes[key];
    if (typeof value === 'string' ? value.length <= shortLength : !Array.isArray(value)) continue;
    const held = memoryBytes(value, maxAttributeBytes);
    if (held > maxAttributeBytes && value !== undefined) attributes[key] = truncate(value, maxAttributeBytes);
    bytes += Math.min(held, maxAttributeBytes);
  }
  return bytes;
}
