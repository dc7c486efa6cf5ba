/** Audio format of models: 16 bit, mono. */
const targetRate = 16_000;
/** Samples sent at a time: 40 ms. */
const chunkLength = 640;

/** Resamples the audio of a microphone to 16 kHz, and posts it in chunks with their level. */
class Capture extends AudioWorkletProcessor {
  readonly #step = sampleRate / targetRate;
  #chunk = new Int16Array(chunkLength);
  #filled = 0;
  #sum = 0;
  /** Where the next sample is taken, in samples of the input from the beginning of this block; negative reaches back. */
  #position = 0;
  #last = 0;

  process(inputs: Float32Array[][]): boolean {
    const input = inputs[0]?.[0];
    if (!input) return true;
    while (this.#position < input.length - 1) {
      const at = Math.floor(this.#position);
      const before = at < 0 ? this.#last : (input[at] ?? 0);
      const after = input[at + 1] ?? 0;
      this.#push(before + (after - before) * (this.#position - at));
      this.#position += this.#step;
    }
    this.#last = input[input.length - 1] ?? 0;
    this.#position -= input.length;
    return true;
  }

  #push(sample: number): void {
    const clipped = Math.max(-1, Math.min(1, sample));
    this.#chunk[this.#filled] = clipped * 0x7fff;
    this.#filled += 1;
    this.#sum += clipped * clipped;
    if (this.#filled < chunkLength) return;
    const level = Math.sqrt(this.#sum / chunkLength);
    this.port.postMessage({ samples: this.#chunk, level }, [this.#chunk.buffer]);
    this.#chunk = new Int16Array(chunkLength);
    this.#filled = 0;
    this.#sum = 0;
  }
}

registerProcessor('capture', Capture);
