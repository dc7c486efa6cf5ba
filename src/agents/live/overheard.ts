import type { LiveInput } from '../../core/model.ts';

/** What may wait: about a minute of speech, in characters of base64. */
const maxEntries = 1_024;
const maxMedia = 2 * 1024 * 1024;

/**
 * What a live client says, for a tool that listens along. It hears from when it starts to read; what it does not read in
 * time is lost, the oldest first. One reader.
 */
export class Overheard implements AsyncIterable<LiveInput> {
  readonly #waiting: LiveInput[] = [];
  #media = 0;
  #isRead = false;
  #isOver = false;
  #wake: (() => void) | undefined;

  hear(input: LiveInput): void {
    if (!this.#isRead || this.#isOver) return;
    this.#waiting.push(input);
    this.#media += mediaSize(input);
    while (this.#waiting.length > maxEntries || (this.#media > maxMedia && this.#waiting.length > 1)) this.#take();
    this.#wake?.();
  }

  /** There is nothing more to hear. */
  end(): void {
    this.#isOver = true;
    this.#wake?.();
  }

  [Symbol.asyncIterator](): AsyncGenerator<LiveInput, void, void> {
    this.#isRead = true;
    return this.#inputs();
  }

  async *#inputs(): AsyncGenerator<LiveInput, void, void> {
    while (!this.#isOver) {
      const input = this.#take();
      if (input) yield input;
      else await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }

  #take(): LiveInput | undefined {
    const input = this.#waiting.shift();
    if (input) this.#media -= mediaSize(input);
    return input;
  }
}

const mediaSize = (input: LiveInput): number => (input.kind === 'blob' ? input.blob.data.length : 0);
