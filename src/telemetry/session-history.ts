import { type Event, newActions } from '../schemas/event.ts';
import { eventMemoryBytes, truncate } from './truncate.ts';

/** Bytes of one event's content that are kept. */
const maxContentBytes = 512 * 1024;
const noActions = Object.freeze(newActions());

/**
 * What was said in a session, as far as requests are made of it: held once for all traces that show such requests,
 * since each request repeats the ones before it. Beyond a bound in bytes the oldest events go.
 */
export class SessionHistory {
  #events: Event[] = [];
  readonly #maxBytes: number;
  /** Events that came before those that are held. */
  #left = 0;
  #newest: string | undefined;
  /** Bytes that are held. */
  bytes = 0;
  /** Traces that hold on to it; the recorder's business. */
  holders = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Whether a session's events go on where these end: they do, unless some were taken back. */
  leadsTo(events: readonly Event[]): boolean {
    const count = this.#left + this.#events.length;
    return count === 0 || (count <= events.length && events[count - 1]?.id === this.#newest);
  }

  /** Takes over what is new in a session's events. */
  extend(events: readonly Event[]): void {
    for (let at = this.#left + this.#events.length; at < events.length; at += 1) {
      const event = events[at] as Event;
      const bytes = eventMemoryBytes(event, maxWholeBytes);
      const kept = bytes > maxWholeBytes ? said(event) : event;
      this.#events.push(kept);
      this.#newest = event.id;
      this.bytes += kept === event ? bytes * 2 : bytesOf(kept);
    }
    while (this.bytes > this.#maxBytes && this.#events.length > 1) this.#dropOldest();
  }

  /** What is still held of the session's first `count` events, and how many were left out before. */
  upTo(count: number): { events: Event[]; omitted: number } {
    return {
      events: this.#events.slice(0, Math.max(0, count - this.#left)),
      omitted: Math.min(count, this.#left),
    };
  }

  /** Lets go of everything; what comes next is held again. */
  clear(): void {
    this.#left += this.#events.length;
    this.#events = [];
    this.bytes = 0;
  }

  #dropOldest(): void {
    const oldest = this.#events.shift();
    this.#left += 1;
    if (oldest) this.bytes -= bytesOf(oldest);
  }
}

/** Bytes of an event that is kept as it is: a copy would cost more than what it leaves out. */
const maxWholeBytes = 4 * 1024;

/** The part of an event that requests are made of: not its state changes, its metadata and its text as JSON. */
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

/** A short event counts twice: the one that is stored may know its text as JSON. */
function bytesOf(event: Event): number {
  const bytes = eventMemoryBytes(event, Infinity);
  return bytes <= maxWholeBytes ? bytes * 2 : bytes;
}
