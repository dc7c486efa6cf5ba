import { type Event, newActions } from '../schemas/event.ts';
import { eventMemoryBytes, truncate } from './truncate.ts';

/** Bytes of one event's content that are kept. */
const maxContentBytes = 512 * 1024;
const noActions = Object.freeze(newActions());

/**
 * The parts of a session's events that model requests contain. Each request repeats the ones before it, so all traces
 * with requests of a session share one history. Above a limit in bytes it drops the oldest events.
 */
export class SessionHistory {
  #events: Event[] = [];
  readonly #maxBytes: number;
  /** How many of the oldest events were dropped. */
  #dropped = 0;
  #newest: string | undefined;
  /** Estimated memory. */
  bytes = 0;
  /** Traces that refer to it. Written by the recorder. */
  holders = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Whether a session's events start with these. They do, unless some were rolled back. */
  leadsTo(events: readonly Event[]): boolean {
    const count = this.#dropped + this.#events.length;
    return count === 0 || (count <= events.length && events[count - 1]?.id === this.#newest);
  }

  /** Adds the new events of a session. */
  extend(events: readonly Event[]): void {
    for (let at = this.#dropped + this.#events.length; at < events.length; at += 1) {
      const event = events[at] as Event;
      const bytes = eventMemoryBytes(event, maxWholeBytes);
      const kept = bytes > maxWholeBytes ? said(event) : event;
      this.#events.push(kept);
      this.#newest = event.id;
      this.bytes += kept === event ? bytes * 2 : bytesOf(kept);
    }
    while (this.bytes > this.#maxBytes && this.#events.length > 1) this.#dropOldest();
  }

  /** Those of the session's first `count` events that are kept, and how many were dropped before them. */
  upTo(count: number): { events: Event[]; omitted: number } {
    return {
      events: this.#events.slice(0, Math.max(0, count - this.#dropped)),
      omitted: Math.min(count, this.#dropped),
    };
  }

  /** Drops all events. Later events are kept again. */
  clear(): void {
    this.#dropped += this.#events.length;
    this.#events = [];
    this.bytes = 0;
  }

  #dropOldest(): void {
    const oldest = this.#events.shift();
    this.#dropped += 1;
    if (oldest) this.bytes -= bytesOf(oldest);
  }
}

/** Up to this size an event is kept unchanged: a copy would cost more than it saves. */
const maxWholeBytes = 4 * 1024;

/** The parts of an event that model requests contain: no state changes, no metadata, no cached JSON. */
function said(event: Event): Event {
  const { id, invocationId, author, timestamp, branch, content, inputTranscription, outputTranscription } = event;
  const { compaction, rewindBeforeInvocationId } = event.actions;
  const isEdit = compaction !== undefined || rewindBeforeInvocationId !== undefined;
  return {
    id,
    invocationId,
    author,
    timestamp,
    branch,
    content: truncate(content, maxContentBytes),
    inputTranscription: truncate(inputTranscription, maxContentBytes),
    outputTranscription: truncate(outputTranscription, maxContentBytes),
    actions: isEdit
      ? { ...noActions, compaction: truncate(compaction, maxContentBytes), rewindBeforeInvocationId }
      : noActions,
  };
}

/** A short event counts twice: it is shared with the store, which may have cached its JSON. */
function bytesOf(event: Event): number {
  const bytes = eventMemoryBytes(event, Infinity);
  return bytes <= maxWholeBytes ? bytes * 2 : bytes;
}
