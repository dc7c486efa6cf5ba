const decoder = new TextDecoder();
const encoder = new TextEncoder();

/** Collects text up to a limit in bytes, and marks where more was cut off. */
export class OutputText {
  readonly #limit: number;
  #chunks: Uint8Array[] = [];
  #size = 0;
  #isCut = false;

  constructor(limit: number) {
    this.#limit = limit;
  }

  add(chunk: string | Uint8Array): void {
    if (this.#isCut) return;
    const room = this.#limit - this.#size;
    // A character takes at least one byte, so more characters than `room` never fit.
    const bytes = typeof chunk === 'string' ? encoder.encode(chunk.slice(0, room + 1)) : chunk.slice(0, room + 1);
    this.#isCut = bytes.length > room;
    const kept = this.#isCut ? bytes.subarray(0, wholeCharacters(bytes, room)) : bytes;
    if (kept.length === 0) return;
    this.#chunks.push(kept);
    this.#size += kept.length;
    if (this.#chunks.length >= 1024) this.#chunks = [this.#joined()];
  }

  /** Returns the text with the mark, and clears it. */
  take(): string {
    const text = decoder.decode(this.#joined());
    const mark = this.#isCut ? `\n[output cut off after ${this.#limit} bytes]` : '';
    this.#chunks = [];
    this.#size = 0;
    this.#isCut = false;
    return text + mark;
  }

  #joined(): Uint8Array {
    const all = new Uint8Array(this.#size);
    let at = 0;
    for (const chunk of this.#chunks) {
      all.set(chunk, at);
      at += chunk.length;
    }
    return all;
  }
}

/** The text, cut to `limit` bytes. */
export function cutText(text: string, limit: number): string {
  const output = new OutputText(limit);
  output.add(text);
  return output.take();
}

/** How many of the first `end` bytes form complete characters. */
function wholeCharacters(bytes: Uint8Array, end: number): number {
  let at = end;
  while (at > 0 && ((bytes[at] ?? 0) & 0xc0) === 0x80) at -= 1;
  return at;
}
