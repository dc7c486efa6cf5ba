import { errorText } from '../../base/errors.ts';
import { newEvent } from '../../core/events/new-event.ts';
import type { RunContext } from '../../core/runtime.ts';
import type { ArtifactService } from '../../core/services.ts';
import type { Blob } from '../../schemas/content.ts';
import type { Event } from '../../schemas/event.ts';
import { keyOf } from '../../schemas/session.ts';

/** Bytes of audio kept for one side of one turn; audio beyond them is not saved. */
const maxBytes = 32 * 1024 * 1024;

interface Recording {
  readonly mimeType: string;
  readonly author: string;
  readonly startedMs: number;
  readonly chunks: Buffer[];
  bytes: number;
}

/** Collects the audio of the user and the model, and saves it as artifacts, turn by turn. */
export class AudioRecorder {
  readonly #ctx: RunContext;
  readonly #artifacts: ArtifactService;
  readonly #recordings = new Map<'input' | 'output', Recording>();

  constructor(ctx: RunContext, artifacts: ArtifactService) {
    this.#ctx = ctx;
    this.#artifacts = artifacts;
  }

  /** Adds audio of the user. */
  recordInput(blob: Blob): void {
    this.#record('input', 'user', blob);
  }

  /** Adds audio of the model. */
  recordOutput({ author, content }: Event): void {
    for (const { inlineData } of content?.parts ?? []) if (inlineData) this.#record('output', author, inlineData);
  }

  /** Saves the audio of a finished or interrupted turn, and returns the events that refer to it. */
  async save({ turnComplete, interrupted }: Pick<Event, 'turnComplete' | 'interrupted'>): Promise<Event[]> {
    const events: Event[] = [];
    if (turnComplete) events.push(...(await this.#saveSide('input')));
    if (turnComplete || interrupted) events.push(...(await this.#saveSide('output')));
    return events;
  }

  #record(side: 'input' | 'output', author: string, { mimeType, data }: Blob): void {
    if (!mimeType.startsWith('audio/')) return;
    const known = this.#recordings.get(side);
    const recording = known ?? { mimeType, author, startedMs: Date.now(), chunks: [], bytes: 0 };
    if (!known) this.#recordings.set(side, recording);
    if (recording.bytes >= maxBytes) return;
    const piece = Buffer.from(data, 'base64');
    recording.chunks.push(piece);
    recording.bytes += piece.length;
  }

  /** Logs a failure: the conversation continues without the saved audio. */
  async #saveSide(side: 'input' | 'output'): Promise<Event[]> {
    const recording = this.#recordings.get(side);
    if (!recording) return [];
    this.#recordings.delete(side);
    const { mimeType, author, startedMs, chunks } = recording;
    const { appName, userId, id } = this.#ctx.session;
    const file = `adk_live_audio_storage_${side}_audio_${startedMs}.${extensionOf(mimeType)}`;
    try {
      const inlineData = { mimeType, data: Buffer.concat(chunks).toString('base64') };
      const version = await this.#artifacts.saveArtifact(keyOf(this.#ctx.session), file, { inlineData });
      const fileUri = `artifact://${appName}/${userId}/${id}/_adk_live/${file}#${version}`;
      const role = side === 'input' ? 'user' : 'model';
      return [newEvent(this.#ctx, author, { content: { role, parts: [{ fileData: { fileUri, mimeType } }] } })];
    } catch (error) {
      this.#ctx.log?.warn({ file, reason: errorText(error) }, 'live audio was not saved');
      return [];
    }
  }
}

function extensionOf(mimeType: string): string {
  const kind = /^audio\/(?:x-)?([\w.+-]+)/.exec(mimeType)?.[1] ?? 'bin';
  return kind === 'mpeg' ? 'mp3' : kind;
}
