import type { LiveInput } from '../../core/model.ts';

/** Inputs in the buffer, and characters of base64 media in it: about a minute of speech. */
const maxEntries = 1_024;
const maxMediaSize = 2 * 1024 * 1024;

/**
 * A copy of the client's live input for one streaming tool. The copy starts with the tool's first read. When the tool
 * reads too slowly, the oldest inputs are dropped. One reader.
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

  /** Ends the reader. */
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
