/** Playback waits for so many seconds of audio, so that late packets leave no gaps. */
const startAfter = 0.12;
/** Longest wait in seconds when no more audio arrives. */
const patience = 0.25;

/** Plays audio that arrives in chunks, through a buffer that smooths uneven arrival. */
class Player extends AudioWorkletProcessor {
  #queue: Float32Array[] = [];
  #queued = 0;
  #offset = 0;
  #isPlaying = false;
  #waited = 0;

  constructor() {
    super();
    this.port.addEventListener('message', ({ data }: MessageEvent<Float32Array | 'clear'>) => {
      if (data === 'clear') this.#clear();
      else {
        this.#queue.push(data);
        this.#queued += data.length;
      }
    });
    this.port.start();
  }

  process(_inputs: Float32Array[][], outputs: Float32Array[][]): boolean {
    const output = outputs[0]?.[0];
    if (!output) return true;
    if (!this.#isPlaying) {
      if (this.#queued === 0) return true;
      this.#waited += output.length / sampleRate;
      if (this.#queued / sampleRate < startAfter && this.#waited < patience) return true;
      this.#isPlaying = true;
      this.#waited = 0;
      this.port.postMessage('started');
    }
    for (let index = 0; index < output.length; index += 1) output[index] = this.#next();
    if (this.#queued === 0) {
      this.#isPlaying = false;
      this.port.postMessage('ended');
    }
    return true;
  }

  #next(): number {
    const piece = this.#queue[0];
    if (!piece) return 0;
    const sample = piece[this.#offset] ?? 0;
    this.#offset += 1;
    this.#queued -= 1;
    if (this.#offset >= piece.length) {
      this.#queue.shift();
      this.#offset = 0;
    }
    return sample;
  }

  #clear(): void {
    this.#queue = [];
    this.#queued = 0;
    this.#offset = 0;
    if (this.#isPlaying) this.port.postMessage('ended');
    this.#isPlaying = false;
    this.#waited = 0;
  }
}

registerProcessor('player', Player);
