import type { JsonObject } from '../base/json.ts';
import type { Part } from '../schemas/content.ts';
import { fromA2aPart, longRunningIdsIn } from './part-codec.ts';
import type { A2aArtifact, A2aPart, A2aStatus, A2aTask, A2aUpdate } from './wire.ts';

/** Content from a peer that becomes an event. */
export interface PeerItem {
  readonly parts: readonly Part[];
  /** A chunk; a later item has the whole. */
  readonly partial?: boolean;
  /** Joined from chunks. */
  readonly aggregated?: boolean;
  readonly longRunningIds?: readonly string[];
  /** The peer's question, if it waits for an answer as text. */
  readonly question?: string;
  readonly failure?: { readonly code: string; readonly message: string };
  /** The peer's metadata (`adk_…`). */
  readonly metadata: JsonObject;
  readonly update: A2aUpdate;
}

/** The received parts of one artifact. */
interface ArtifactInProgress {
  parts: Part[];
  /** Chunks that are only shown; the complete artifact comes separately. */
  preview: Part[];
  isEmitted: boolean;
}

const failed = new Set(['TASK_STATE_FAILED', 'TASK_STATE_REJECTED', 'TASK_STATE_CANCELED']);
const awaitingUser = new Set(['TASK_STATE_INPUT_REQUIRED', 'TASK_STATE_AUTH_REQUIRED']);

/**
 * Converts the updates of one turn of a peer to items. Chunks become partial items at once; the complete content becomes
 * one item when the artifact, the question or the turn is complete.
 */
export class TurnReader {
  readonly #artifacts = new Map<string, ArtifactInProgress>();
  /** Ids of the calls in earlier items: a question repeats the call it is about. */
  readonly #calls = new Set<string>();
  readonly #openCalls = new Set<string>();
  /** The peer's last status text. */
  #lastStatusParts: readonly Part[] = [];
  taskId: string | undefined;
  contextId: string | undefined;
  /** Whether the peer has ended its turn: later updates are ignored. */
  isOver = false;

  /** Whether the task has ended, or waits for the user. */
  static isOver({ task }: A2aUpdate): boolean {
    return ends(task?.status?.state);
  }

  /** `knownArtifacts`: ids of artifacts of the task that came in earlier turns, and come again with the task as a whole. */
  constructor(knownArtifacts: readonly string[] = []) {
    for (const id of knownArtifacts) this.#artifacts.set(id, { parts: [], preview: [], isEmitted: true });
  }

  /** Throws MessageConversionException for content that does not fit its label. */
  read(update: A2aUpdate): PeerItem[] {
    const { message, task, statusUpdate, artifactUpdate } = update;
    this.#locate(message ?? statusUpdate ?? artifactUpdate ?? { taskId: task?.id, contextId: task?.contextId });
    if (artifactUpdate) return this.#readArtifact(artifactUpdate, update);
    if (task) return [...this.#readSnapshot(task, update), ...this.#readStatus(task.status, task.metadata, update)];
    if (statusUpdate) return this.#readStatus(statusUpdate.status, statusUpdate.metadata, update);
    if (!message) return [];
    this.isOver = true;
    return [...this.flush(update), ...this.#whole(message.parts, message.metadata, update)];
  }

  /** The items of incomplete artifacts, at the end of the turn. */
  flush(update: A2aUpdate): PeerItem[] {
    return [...this.#artifacts.values()].flatMap((progress) => this.#finish(progress, {}, update));
  }

  #locate(place: { taskId?: string | undefined; contextId?: string | undefined }): void {
    if (place.taskId) this.taskId = place.taskId;
    if (place.contextId) this.contextId = place.contextId;
  }

  #readArtifact(update: NonNullable<A2aUpdate['artifactUpdate']>, from: A2aUpdate): PeerItem[] {
    const { artifact = {}, append = false, lastChunk = false } = update;
    const metadata = { ...artifact.metadata, ...update.metadata };
    const progress = this.#progressOf(artifact);
    if (metadata['adk_partial'] === true) {
      // A last chunk marked as partial repeats (or clears) the earlier chunks.
      if (lastChunk) return [];
      const item = this.#item(artifact.parts, metadata, from);
      progress.preview.push(...item.parts);
      return item.parts.length > 0 ? [{ ...item, partial: true }] : [];
    }
    progress.preview = [];
    if (!append) progress.parts = [];
    if (lastChunk && progress.parts.length === 0) {
      progress.isEmitted = true;
      return this.#whole(artifact.parts, metadata, from);
    }
    const item = this.#item(artifact.parts, metadata, from);
    progress.parts.push(...item.parts);
    const shown: PeerItem[] = item.parts.length > 0 ? [{ ...item, partial: true }] : [];
    return lastChunk ? [...shown, ...this.#finish(progress, metadata, from)] : shown;
  }

  /** The current state of a task: yields the artifacts that have not come before. */
  #readSnapshot({ artifacts = [], status }: A2aTask, update: A2aUpdate): PeerItem[] {
    const isEnd = ends(status?.state);
    return artifacts.flatMap((artifact): PeerItem[] => {
      const progress = this.#progressOf(artifact);
      if (progress.isEmitted) return [];
      const item = this.#item(artifact.parts, artifact.metadata ?? {}, update);
      const isNew = progress.parts.length === 0 && progress.preview.length === 0;
      progress.parts = [...item.parts];
      progress.preview = [];
      if (!isEnd) return isNew && item.parts.length > 0 ? [{ ...item, partial: true }] : [];
      return this.#finish(progress, artifact.metadata ?? {}, update);
    });
  }

  #readStatus(status: A2aStatus = {}, metadata: JsonObject = {}, update: A2aUpdate): PeerItem[] {
    const { state = '', message } = status;
    const noted = { ...message?.metadata, ...metadata };
    if (!ends(state)) {
      const item = this.#item(message?.parts, noted, update);
      const words = item.parts.filter(({ text, thought }) => text !== undefined && !thought);
      if (words.length > 0) this.#lastStatusParts = words;
      const parts = item.parts.map((part) => (part.text === undefined ? part : { ...part, thought: true }));
      return parts.length > 0 ? [{ ...item, parts }] : [];
    }
    this.isOver = true;
    const rest = this.flush(update);
    if (failed.has(state)) return [...rest, this.#failure(state, message?.parts, noted, update)];
    if (awaitingUser.has(state)) return [...rest, this.#question(message?.parts, this.#lastStatusParts, noted, update)];
    return [...rest, ...this.#whole(message?.parts, noted, update)];
  }

  #failure(state: string, parts: readonly A2aPart[] = [], metadata: JsonObject, update: A2aUpdate): PeerItem {
    const { adk_error_code: code, adk_error_message: errorMessage } = metadata;
    const text = parts.flatMap((part) => part.text ?? []).join('\n');
    const message = text || (typeof errorMessage === 'string' ? errorMessage : '') || `The task ended as ${state}`;
    return { parts: [], failure: { code: typeof code === 'string' ? code : state, message }, metadata, update };
  }

  /** The peer's question. ADK asks for a call without a text; then the text of its last status (`words`) is shown. */
  #question(parts: readonly A2aPart[] = [], words: readonly Part[], metadata: JsonObject, update: A2aUpdate): PeerItem {
    for (const id of longRunningIdsIn(parts)) this.#openCalls.add(id);
    const known = new Set(this.#calls);
    const item = this.#item(parts, metadata, update);
    const unknown = item.parts.filter(
      ({ functionCall }) => functionCall?.id === undefined || !known.has(functionCall.id),
    );
    const isSilent = unknown.every(({ text }) => text === undefined);
    const fresh = isSilent ? [...words, ...unknown] : unknown;
    const longRunningIds = [...this.#openCalls];
    if (longRunningIds.length > 0) return { ...item, parts: fresh, longRunningIds };
    const question = fresh.flatMap(({ text }) => text ?? []).join('\n');
    return { ...item, parts: fresh, question };
  }

  #whole(parts: readonly A2aPart[] | undefined, metadata: JsonObject = {}, update: A2aUpdate): PeerItem[] {
    const item = this.#item(parts, metadata, update);
    if (item.parts.length > 0) this.#lastStatusParts = [];
    return item.parts.length > 0 ? [item] : [];
  }

  #item(parts: readonly A2aPart[] = [], metadata: JsonObject, update: A2aUpdate): PeerItem {
    const read = parts.flatMap((part): Part[] => [fromA2aPart(part) ?? []].flat());
    const longRunningIds = longRunningIdsIn(parts);
    for (const id of longRunningIds) this.#openCalls.add(id);
    for (const { functionCall } of read) if (functionCall?.id) this.#calls.add(functionCall.id);
    return { parts: read, ...(longRunningIds.length > 0 && { longRunningIds }), metadata, update };
  }

  #finish(progress: ArtifactInProgress, metadata: JsonObject, update: A2aUpdate): PeerItem[] {
    const parts = joined(progress.parts.length > 0 ? progress.parts : progress.preview);
    progress.parts = [];
    progress.preview = [];
    progress.isEmitted = true;
    if (parts.length === 0) return [];
    this.#lastStatusParts = [];
    const ids = parts.flatMap(({ functionCall }) => functionCall?.id ?? []).filter((id) => this.#openCalls.has(id));
    return [{ parts, aggregated: true, ...(ids.length > 0 && { longRunningIds: ids }), metadata, update }];
  }

  #progressOf({ artifactId = '' }: A2aArtifact): ArtifactInProgress {
    const known = this.#artifacts.get(artifactId);
    if (known) return known;
    const progress: ArtifactInProgress = { parts: [], preview: [], isEmitted: false };
    this.#artifacts.set(artifactId, progress);
    return progress;
  }
}

const ends = (state = ''): boolean => state === 'TASK_STATE_COMPLETED' || failed.has(state) || awaitingUser.has(state);

/** Joins consecutive texts of the same kind. */
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
