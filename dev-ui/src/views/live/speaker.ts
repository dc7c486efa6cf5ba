import playerUrl from './player-worklet.ts?worker&url';

/** Audio of models: 16 bit, mono, at the rate in its MIME type. */
const usualRate = 24_000;

/** Plays the audio of the model. */
export class Speaker {
  readonly #context: AudioContext;
  readonly #node: AudioWorkletNode;

  private constructor(context: AudioContext, node: AudioWorkletNode) {
    this.#context = context;
    this.#node = node;
  }

  /** Calls `onChange` when audio starts to play, and when it ends. */
  static async open(onChange: (isPlaying: boolean) => void): Promise<Speaker> {
    const context = new AudioContext({ sampleRate: usualRate, latencyHint: 'interactive' });
    await context.audioWorklet.addModule(playerUrl);
    const node = new AudioWorkletNode(context, 'player', { numberOfInputs: 0, outputChannelCount: [1] });
    node.port.addEventListener('message', ({ data }: MessageEvent<string>) => onChange(data === 'started'));
    node.port.start();
    node.connect(context.destination);
    await context.resume();
    return new Speaker(context, node);
  }

  /** Base64 of PCM, as events carry it. */
  play(base64: string, mimeType: string): void {
    const samples = resampled(samplesOf(base64), rateOf(mimeType));
    this.#node.port.postMessage(samples, [samples.buffer]);
  }

  /** Stops at once, because the user has begun to speak. */
  clear(): void {
    this.#node.port.postMessage('clear');
  }

  async close(): Promise<void> {
    await this.#context.close();
  }
}

const rateOf = (mimeType: string): number => Number(/rate=(\d+)/.exec(mimeType)?.[1] ?? usualRate);

function samplesOf(base64: string): Float32Array<ArrayBuffer> {
  const binary = atob(base64.replaceAll('-', '+').replaceAll('_', '/'));
  const samples = new Float32Array(binary.length >> 1);
  for (let index = 0; index < samples.length; index += 1) {
    const value = binary.charCodeAt(index * 2) | (binary.charCodeAt(index * 2 + 1) << 8);
    samples[index] = (value >= 0x8000 ? value - 0x1_0000 : value) / 0x8000;
  }
  return samples;
}

function resampled(samples: Float32Array<ArrayBuffer>, rate: number): Float32Array<ArrayBuffer> {
  if (rate === usualRate || samples.length === 0) return samples;
  const made = new Float32Array(Math.round((samples.length * usualRate) / rate));
  for (let index = 0; index < made.length; index += 1) {
    const place = (index * rate) / usualRate;
    const at = Math.min(Math.floor(place), samples.length - 1);
    const before = samples[at] ?? 0;
    made[index] = before + ((samples[at + 1] ?? before) - before) * (place - at);
  }
  return made;
}
