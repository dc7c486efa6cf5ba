import type { LiveInput } from '../../core/model.ts';

/** What may wait: about a minute of speech, in characters of base64. */
const maxEntries = 1_024;
const maxMediaSize = 2 * 1024 * 1024;

/**
 * What a live client says, for a tool that listens along. It hears from when it starts to read; what it does not read in
 * time is lost, the oldest first. One reader.
 */
export class InputTap implements AsyncIterable<LiveInput> {
  readonly #waiting: LiveInput[] = [];
  #mediaSize = 0;
  #hasReader = false;
  #hasEnded = false;
  #wake: (() => void) | undefined;

  push(input: LiveInput): void {
    if (!this.#hasReader || this.#hasEnded) return;
    this.#waiting.push(input);
    this.#mediaSize += mediaSize(input);
    while (this.#waiting.length > maxEntries || (this.#mediaSize > maxMediaSize && this.#waiting.length > 1))
      this.#shift();
    this.#wake?.();
  }

  /** There is nothing more to hear. */
  end(): void {
    this.#hasEnded = true;
    this.#wake?.();
  }

  [Symbol.asyncIterator](): AsyncGenerator<LiveInput, void, void> {
    this.#hasReader = true;
    return this.#inputs();
  }

  async *#inputs(): AsyncGenerator<LiveInput, void, void> {
    while (!this.#hasEnded) {
      const input = this.#shift();
      if (input) yield input;
      else await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }

  #shift(): LiveInput | undefined {
    const input = this.#waiting.shift();
    if (input) this.#mediaSize -= mediaSize(input);
    return input;
  }
}

const mediaSize = (input: LiveInput): number => (input.kind === 'blob' ? input.blob.data.length : 0);
