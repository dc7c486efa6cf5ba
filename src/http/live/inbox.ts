import { endOfIteration } from '../../base/event-loop.ts';
import type { LiveInput } from '../../core/model.ts';

interface Entry {
  readonly input: LiveInput;
  readonly size: number;
}

/** Characters of base64 in the inbox: about a minute of speech. */
const maxWaiting = 2 * 1024 * 1024;
const maxEntries = 2_048;

/**
 * Messages of a live client that the agent has not read yet. When it is full it drops the oldest audio and images, which
 * are useless when late. It never drops text messages: if they fill it, the client has to wait.
 */
export class LiveInbox implements AsyncIterable<LiveInput> {
  readonly #entries: Entry[] = [];
  readonly #onRoom: () => void;
  #size = 0;
  #dropped = 0;
  #hasEnded = false;
  #isFull = false;
  #reader: ((result: IteratorResult<LiveInput, undefined>) => void) | undefined;

  /** Calls `onRoom` when there is space again after `push` returned false. */
  constructor(onRoom: () => void) {
    this.#onRoom = onRoom;
  }

  /** Number of dropped media messages. */
  get dropped(): number {
    return this.#dropped;
  }

  /** Whether the reader waits for input. */
  get isAwaited(): boolean {
    return this.#reader !== undefined;
  }

  /** Returns whether there is space for more. */
  push(input: LiveInput): boolean {
    if (this.#hasEnded) return true;
    const reader = this.#reader;
    if (reader) {
      this.#reader = undefined;
      // Inputs of several connections are worked on together: without, 16 of them take 40 % more processor time.
      void endOfIteration().then(() => reader({ done: false, value: input }));
      return true;
    }
    const size = sizeOf(input);
    this.#entries.push({ input, size });
    this.#size += size;
    while (this.#isOverfull() && this.#dropOldestMedia());
    this.#isFull = this.#isOverfull();
    return !this.#isFull;
  }

  /** Marks the end of input. Waiting messages can still be read. */
  end(): void {
    this.#hasEnded = true;
    const reader = this.#reader;
    this.#reader = undefined;
    reader?.({ done: true, value: undefined });
  }

  /** For one reader. */
  [Symbol.asyncIterator](): AsyncIterator<LiveInput, undefined> {
    return {
      next: () => this.#next(),
      return: () => {
        this.end();
        return Promise.resolve({ done: true, value: undefined });
      },
    };
  }

  #next(): Promise<IteratorResult<LiveInput, undefined>> {
    const entry = this.#entries.shift();
    if (entry) {
      this.#size -= entry.size;
      if (this.#isFull && this.#size <= maxWaiting / 2 && this.#entries.length <= maxEntries / 2) {
        this.#isFull = false;
        this.#onRoom();
      }
      return Promise.resolve({ done: false, value: entry.input });
    }
    if (this.#hasEnded) return Promise.resolve({ done: true, value: undefined });
    return new Promise((resolve) => (this.#reader = resolve));
  }

  #isOverfull(): boolean {
    return this.#entries.length > 1 && (this.#size > maxWaiting || this.#entries.length > maxEntries);
  }

  #dropOldestMedia(): boolean {
    const at = this.#entries.findIndex(({ input }) => input.kind === 'blob');
    const [entry] = at < 0 ? [] : this.#entries.splice(at, 1);
    if (!entry) return false;
    this.#size -= entry.size;
    this.#dropped += 1;
    return true;
  }
}

/** Approximate size in characters. */
function sizeOf(input: LiveInput): number {
  if (input.kind === 'blob') return input.blob.data.length;
  if (input.kind !== 'content') return 0;
  let size = 0;
  for (const part of input.content.parts) {
    size += part.text?.length ?? part.inlineData?.data.length ?? JSON.stringify(part).length;
  }
  return size;
}
