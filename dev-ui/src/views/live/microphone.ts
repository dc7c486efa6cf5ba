import captureUrl from './capture-worklet.ts?worker&url';

export interface Chunk {
  /** 16 bit, mono, 16 kHz. */
  readonly samples: Int16Array<ArrayBuffer>;
  /** From 0 (silence) to 1. */
  readonly level: number;
}

/** Why there is no audio or video, in words for the user. */
export function mediaFault(error: unknown, device: 'microphone' | 'camera'): string {
  if (!window.isSecureContext || !('mediaDevices' in navigator)) {
    return `Browsers allow the ${device} only on https and localhost. Open this page there.`;
  }
  const name = error instanceof DOMException ? error.name : '';
  if (name === 'NotAllowedError') {
    return `Access to the ${device} was denied. Allow it for this page (next to the address) and try again.`;
  }
  if (name === 'NotFoundError' || name === 'OverconstrainedError') return `No ${device} found.`;
  if (name === 'NotReadableError') return `Another program is using the ${device}.`;
  return `The ${device} cannot be used: ${error instanceof Error ? error.message : String(error)}`;
}

/** Records a microphone until `close`. Throws what `getUserMedia` throws. */
export class Microphone {
  readonly #stream: MediaStream;
  readonly #context: AudioContext;

  private constructor(stream: MediaStream, context: AudioContext) {
    this.#stream = stream;
    this.#context = context;
  }

  static async open(deviceId: string | undefined, onChunk: (chunk: Chunk) => void): Promise<Microphone> {
    const audio = {
      echoCancellation: true,
      noiseSuppression: true,
      autoGainControl: true,
      ...(deviceId !== undefined && { deviceId: { exact: deviceId } }),
    };
    const stream = await navigator.mediaDevices.getUserMedia({ audio });
    const context = new AudioContext();
    try {
      await context.audioWorklet.addModule(captureUrl);
      const node = new AudioWorkletNode(context, 'capture', { numberOfOutputs: 0 });
      node.port.addEventListener('message', ({ data }: MessageEvent<Chunk>) => onChunk(data));
      node.port.start();
      context.createMediaStreamSource(stream).connect(node);
      await context.resume();
      return new Microphone(stream, context);
    } catch (error) {
      for (const track of stream.getTracks()) track.stop();
      await context.close();
      throw error;
    }
  }

  async close(): Promise<void> {
    for (const track of this.#stream.getTracks()) track.stop();
    await this.#context.close();
  }
}
