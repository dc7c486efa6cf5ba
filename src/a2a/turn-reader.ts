import type { JsonObject } from '../base/json.ts';
import type { Part } from '../schemas/content.ts';
import { fromA2aPart, longRunningIdsIn } from './part-codec.ts';
import type { A2aArtifact, A2aPart, A2aStatus, A2aTask, A2aUpdate } from './wire.ts';

/** Something a peer said, ready to become an event. */
export interface Said {
  readonly parts: readonly Part[];
  /** A piece of what a later item says whole. */
  readonly partial?: boolean;
  /** Put together from pieces. */
  readonly aggregated?: boolean;
  readonly longRunningIds?: readonly string[];
  /** The peer waits for an answer in words: what it asks. */
  readonly question?: string;
  readonly failure?: { readonly code: string; readonly message: string };
  /** What the peer noted beside it (`adk_…`). */
  readonly metadata: JsonObject;
  readonly update: A2aUpdate;
}

/** What has come of one artifact. */
interface Piecework {
  parts: Part[];
  /** Pieces that are only shown: the whole comes on its own. */
  preview: Part[];
  isSaid: boolean;
}

const failed = new Set(['TASK_STATE_FAILED', 'TASK_STATE_REJECTED', 'TASK_STATE_CANCELED']);
const asking = new Set(['TASK_STATE_INPUT_REQUIRED', 'TASK_STATE_AUTH_REQUIRED']);

/**
 * Puts together what a peer says in one turn. Pieces come out at once as partial items; what they make, as one whole
 * item when the artifact, the question or the turn is complete.
 */
export class TurnReader {
  readonly #artifacts = new Map<string, Piecework>();
  /** Calls the peer has shown, by id: a question repeats the call it is about. */
  readonly #calls = new Set<string>();
  readonly #open = new Set<string>();
  /** What the peer said last while it worked. */
  #words: readonly Part[] = [];
  taskId: string | undefined;
  contextId: string | undefined;
  /** Whether the peer has ended its turn: nothing after it counts. */
  isOver = false;

  /** Whether the task has ended, or waits for the user. */
  static isOver({ task }: A2aUpdate): boolean {
    return ends(task?.status?.state);
  }

  /** `heard`: ids of artifacts of the task that came in earlier turns, and come again with the task as a whole. */
  constructor(heard: readonly string[] = []) {
    for (const id of heard) this.#artifacts.set(id, { parts: [], preview: [], isSaid: true });
  }

  /** Throws MessageConversionException for content that is not what it is labelled as. */
  read(update: A2aUpdate): Said[] {
    const { message, task, statusUpdate, artifactUpdate } = update;
    this.#locate(message ?? statusUpdate ?? artifactUpdate ?? { taskId: task?.id, contextId: task?.contextId });
    if (artifactUpdate) return this.#readArtifact(artifactUpdate, update);
    if (task) return [...this.#readSnapshot(task, update), ...this.#readStatus(task.status, task.metadata, update)];
    if (statusUpdate) return this.#readStatus(statusUpdate.status, statusUpdate.metadata, update);
    if (!message) return [];
    this.isOver = true;
    return [...this.flush(update), ...this.#whole(message.parts, message.metadata, update)];
  }

  /** What is left over when the peer says no more. */
  flush(update: A2aUpdate): Said[] {
    return [...this.#artifacts.values()].flatMap((piecework) => this.#finish(piecework, {}, update));
  }

  #locate(place: { taskId?: string | undefined; contextId?: string | undefined }): void {
    if (place.taskId) this.taskId = place.taskId;
    if (place.contextId) this.contextId = place.contextId;
  }

  #readArtifact(update: NonNullable<A2aUpdate['artifactUpdate']>, from: A2aUpdate): Said[] {
    const { artifact = {}, append = false, lastChunk = false } = update;
    const metadata = { ...artifact.metadata, ...update.metadata };
    const piecework = this.#pieceworkOf(artifact);
    if (metadata['adk_partial'] === true) {
      // A last piece marked as partial repeats (or clears) what was shown.
      if (lastChunk) return [];
      const said = this.#said(artifact.parts, metadata, from);
      piecework.preview.push(...said.parts);
      return said.parts.length > 0 ? [{ ...said, partial: true }] : [];
    }
    piecework.preview = [];
    if (!append) piecework.parts = [];
    if (lastChunk && piecework.parts.length === 0) {
      piecework.isSaid = true;
      return this.#whole(artifact.parts, metadata, from);
    }
    const said = this.#said(artifact.parts, metadata, from);
    piecework.parts.push(...said.parts);
    const shown: Said[] = said.parts.length > 0 ? [{ ...said, partial: true }] : [];
    return lastChunk ? [...shown, ...this.#finish(piecework, metadata, from)] : shown;
  }

  /** A task as it stands: its artifacts count as far as they have not come before. */
  #readSnapshot({ artifacts = [], status }: A2aTask, update: A2aUpdate): Said[] {
    const isEnd = ends(status?.state);
    return artifacts.flatMap((artifact): Said[] => {
      const piecework = this.#pieceworkOf(artifact);
      if (piecework.isSaid) return [];
      const said = this.#said(artifact.parts, artifact.metadata ?? {}, update);
      const isNew = piecework.parts.length === 0 && piecework.preview.length === 0;
      Object.assign(piecework, { parts: [...said.parts], preview: [] });
      if (!isEnd) return isNew && said.parts.length > 0 ? [{ ...said, partial: true }] : [];
      return this.#finish(piecework, artifact.metadata ?? {}, update);
    });
  }

  #readStatus(status: A2aStatus = {}, metadata: JsonObject = {}, update: A2aUpdate): Said[] {
    const { state = '', message } = status;
    const noted = { ...message?.metadata, ...metadata };
    if (!ends(state)) {
      const said = this.#said(message?.parts, noted, update);
      const words = said.parts.filter(({ text, thought }) => text !== undefined && !thought);
      if (words.length > 0) this.#words = words;
      const parts = said.parts.map((part) => (part.text === undefined ? part : { ...part, thought: true }));
      return parts.length > 0 ? [{ ...said, parts }] : [];
    }
    this.isOver = true;
    const rest = this.flush(update);
    if (failed.has(state)) return [...rest, this.#failure(state, message?.parts, noted, update)];
    if (asking.has(state)) return [...rest, this.#question(message?.parts, this.#words, noted, update)];
    return [...rest, ...this.#whole(message?.parts, noted, update)];
  }

  #failure(state: string, parts: readonly A2aPart[] = [], metadata: JsonObject, update: A2aUpdate): Said {
    const { adk_error_code: code, adk_error_message: told } = metadata;
    const text = parts.flatMap((part) => part.text ?? []).join('\n');
    const message = text || (typeof told === 'string' ? told : '') || `The task ended as ${state}`;
    return { parts: [], failure: { code: typeof code === 'string' ? code : state, message }, metadata, update };
  }

  /** What the peer asks. Where it asks without a word, as ADK does for a call, its last `words` are no mere thoughts. */
  #question(parts: readonly A2aPart[] = [], words: readonly Part[], metadata: JsonObject, update: A2aUpdate): Said {
    for (const id of longRunningIdsIn(parts)) this.#open.add(id);
    const known = new Set(this.#calls);
    const said = this.#said(parts, metadata, update);
    const unknown = said.parts.filter(
      ({ functionCall }) => functionCall?.id === undefined || !known.has(functionCall.id),
    );
    const isSilent = unknown.every(({ text }) => text === undefined);
    const fresh = isSilent ? [...words, ...unknown] : unknown;
    const longRunningIds = [...this.#open];
    if (longRunningIds.length > 0) return { ...said, parts: fresh, longRunningIds };
    const question = fresh.flatMap(({ text }) => text ?? []).join('\n');
    return { ...said, parts: fresh, question };
  }

  #whole(parts: readonly A2aPart[] | undefined, metadata: JsonObject = {}, update: A2aUpdate): Said[] {
    const said = this.#said(parts, metadata, update);
    if (said.parts.length > 0) this.#words = [];
    return said.parts.length > 0 ? [said] : [];
  }

  #said(parts: readonly A2aPart[] = [], metadata: JsonObject, update: A2aUpdate): Said {
    const read = parts.flatMap((part): Part[] => [fromA2aPart(part) ?? []].flat());
    const longRunningIds = longRunningIdsIn(parts);
    for (const id of longRunningIds) this.#open.add(id);
    for (const { functionCall } of read) if (functionCall?.id) this.#calls.add(functionCall.id);
    return { parts: read, ...(longRunningIds.length > 0 && { longRunningIds }), metadata, update };
  }

  #finish(piecework: Piecework, metadata: JsonObject, update: A2aUpdate): Said[] {
    const parts = joined(piecework.parts.length > 0 ? piecework.parts : piecework.preview);
    Object.assign(piecework, { parts: [], preview: [], isSaid: true });
    if (parts.length === 0) return [];
    this.#words = [];
    const ids = parts.flatMap(({ functionCall }) => functionCall?.id ?? []).filter((id) => this.#open.has(id));
    return [{ parts, aggregated: true, ...(ids.length > 0 && { longRunningIds: ids }), metadata, update }];
  }

  #pieceworkOf({ artifactId = '' }: A2aArtifact): Piecework {
    const known = this.#artifacts.get(artifactId);
    if (known) return known;
    const piecework: Piecework = { parts: [], preview: [], isSaid: false };
    this.#artifacts.set(artifactId, piecework);
    return piecework;
  }
}

const ends = (state = ''): boolean => state === 'TASK_STATE_COMPLETED' || failed.has(state) || asking.has(state);

/** Texts of one kind that follow one another become one part. */
function joined(parts: readonly Part[]): Part[] {
  const whole: Part[] = [];
  for (const part of parts) {
    const last = whole.at(-1);
    if (last?.text !== undefined && part.text !== undefined && last.thought === part.thought) {
      whole[whole.length - 1] = { ...last, text: last.text + part.text };
    } else whole.push(part);
  }
  return whole;
}
