import type { JsonObject } from '../base/json.ts';
import type { Content, Part } from '../schemas/content.ts';
import type { Event } from '../schemas/event.ts';
import type { ArtifactVersion, ListEventsResponse, MemoryEntry } from '../schemas/records.ts';
import type { Generation, GetSessionConfig, Session, SessionKey, SessionOwner, State } from '../schemas/session.ts';

/**
 * Keeps conversations. `appendEvent` is the only way an event, and the state it carries, gets stored; an event is
 * stored once it resolves. Sessions handed out share frozen events but no array and no map with the store.
 */
export interface SessionService {
  /**
   * A blank or absent id is generated (UUID). Initial `app:` and `user:` keys go to their scopes, `temp:` keys are
   * dropped; `events` are stored in order with what they changed in the session's own state: they are past, so what they
   * once wrote to `app:` and `user:` keys is not written again. Throws `session_exists`.
   */
  createSession(owner: SessionOwner, options?: NewSession): Promise<Session>;
  /**
   * The session with its merged state (app, user, session), or `undefined`. An evaluation session (its id starts with
   * `___eval___session___`) is found under any user of its app, for views that know the id only.
   */
  getSession(key: SessionKey, config?: GetSessionConfig): Promise<Session | undefined>;
  /**
   * The same with events that are pulled, so that a history which is larger than memory can be read. Only stores that need
   * not hold it have it.
   */
  readSession?(key: SessionKey, config?: GetSessionConfig): Promise<SessionReading | undefined>;
  /** The owner's sessions without events, with merged state; evaluation sessions left out. */
  listSessions(owner: SessionOwner): Promise<Session[]>;
  /** Unknown sessions are no error. With `only`, a session that was created under the key since is left alone. */
  deleteSession(key: SessionKey, only?: Generation): Promise<void>;
  /**
   * A page of events, at the cost of a page; `total` counts all stored ones. Throws `session_not_found`, and
   * `event_not_found` for an event the page refers to.
   */
  listEvents(key: SessionKey, page?: EventPage): Promise<ListEventsResponse>;
  /**
   * Stores a whole event, applies its state delta (`null` deletes a key) to the store and to `session`, and returns
   * the stored, frozen event: without `temp:` keys, which live on in `session` only. A partial event is returned
   * unchanged and not stored. An id that is stored already is refused as `invalid_request`. Throws
   * `session_not_found` when the session is gone, also if another was created under its key since.
   *
   * With a `guard`, the append happens only while the run still owns the session (else `session_changed`), and once
   * for each step: what is stored for the step already is returned instead. Stores that several servers share check
   * it in the transaction that appends; the others may ignore it.
   */
  appendEvent(session: Session, event: Event, guard?: AppendGuard): Promise<Event>;
  /** The session's own state as it was created. Stores that do not keep it have no such method. */
  initialState?(session: Session): Promise<State>;
  /** Releases what the service holds for a session that will not be used for a while. */
  closeSession(session: Session): Promise<void>;
  /** Resolves when the store can be reached. Throws `unavailable`. */
  check?(): Promise<void>;
  /** Releases connections and files. The service is not used afterwards. */
  close?(): Promise<void>;
}

/** By what right a run appends: it holds the session under this number, and this is its `step`-th stored event. */
export interface AppendGuard {
  /** The generation of the session it runs in. */
  readonly session: number;
  readonly runId: string;
  readonly fencingToken: number;
  readonly eventIndex: number;
}

export interface NewSession {
  readonly sessionId?: string;
  readonly state?: State;
  readonly events?: readonly Event[];
  /** How many of the events, from the first, a client brought along: they are marked (`isImported`) wherever they are read. Default 0. */
  readonly imported?: number;
  /** Of a session that comes from another store, in seconds; a store whose times are its own need not keep it. */
  readonly lastUpdateTime?: number;
}

/** A session whose events come in order as they are asked for, once. */
export interface SessionReading extends Omit<Session, 'events'> {
  readonly events: Iterable<Event> | AsyncIterable<Event>;
}

export interface EventPage {
  /** Default 100, at most 1,000. */
  readonly pageSize?: number;
  /** Bytes, roughly: the page ends with the event that reaches them. Default 16 MB. */
  readonly maxBytes?: number;
  /** From the page before, which was asked for with the same other options. */
  readonly pageToken?: string;
  /** In stored order (default), or newest first. */
  readonly order?: 'asc' | 'desc';
  /** The event the page starts with. */
  readonly from?: string;
  /** Only events stored after this one, and before that one. */
  readonly after?: string;
  readonly before?: string;
}

/** Keeps versioned files beside a session. Names starting with `user:` belong to the user and show in each of the user's sessions. */
export interface ArtifactService {
  /** Stores a new version (from 0) of inline data, text or a file reference, and returns its number. */
  saveArtifact(key: SessionKey, name: string, artifact: Part, metadata?: JsonObject): Promise<number>;
  /** The same for a copy of a version that has a number: it keeps that, unless it or a later one is taken. */
  saveArtifactCopy?(key: SessionKey, name: string, artifact: Part, copied: CopiedVersion): Promise<number>;
  /**
   * The same for content that is not held in memory: inline data of any size. Only stores that can stream have it. Throws
   * what `bytes` throws, and then stores nothing.
   */
  saveArtifactContent?(key: SessionKey, name: string, content: NewContent, metadata?: JsonObject): Promise<number>;
  /** Inline data or text without reading it; `undefined` when there is none. Only stores that can stream have it. */
  openArtifact?(key: SessionKey, name: string, version?: number): Promise<StoredContent | undefined>;
  /** The latest version unless one is named; `undefined` when there is none. */
  loadArtifact(key: SessionKey, name: string, version?: number): Promise<Part | undefined>;
  /** Session and user names, sorted. */
  listArtifactKeys(key: SessionKey): Promise<string[]>;
  /** Ascending; empty when the artifact does not exist. */
  listVersions(key: SessionKey, name: string): Promise<StoredArtifactVersion[]>;
  /** All versions; unknown artifacts are no error. */
  deleteArtifact(key: SessionKey, name: string): Promise<void>;
  /** Everything of a session that is being deleted; the user's artifacts stay. */
  deleteSessionArtifacts(key: SessionKey): Promise<void>;
  /**
   * Deletes old versions, and what nothing leads to any more, such as uploads that broke off. Gives the number of the
   * versions. The newest version of an artifact stays, all that stay keep their numbers, and saves go on counting.
   */
  collectGarbage?(limits: VersionLimits, options: CollectOptions): Promise<number>;
  /** Resolves when the store can be reached. Throws `unavailable`. */
  check?(): Promise<void>;
  close?(): Promise<void>;
}

/** What a copy takes over from the version it is made of. */
export interface CopiedVersion {
  readonly version: number;
  readonly metadata: JsonObject;
}

/** Which versions of an artifact are old: any of these is enough, and none are without a limit. */
export interface VersionLimits {
  /** There are so many newer ones; at least 1. */
  readonly keep?: number | undefined;
  /** It was saved before this time, in seconds since the epoch, and is not the newest. */
  readonly savedBefore?: number | undefined;
}

export interface CollectOptions {
  readonly signal: AbortSignal;
  /** Nothing is deleted: only counted. */
  readonly isTrial: boolean;
}

/** Bytes on their way into an artifact store. */
export interface NewContent {
  readonly mimeType: string;
  readonly bytes: AsyncIterable<Uint8Array>;
}

/** Bytes in an artifact store. */
export interface StoredContent {
  readonly about: StoredArtifactVersion;
  readonly size: number;
  /** Reads from `start` up to, not including, `end`. Pulled: nothing is read ahead of who reads. */
  read(range?: { readonly start: number; readonly end: number }): AsyncIterable<Uint8Array>;
}

/** A version as its store knows it. */
export interface StoredArtifactVersion extends ArtifactVersion {
  /** Bytes of content, where they are known without loading it. */
  readonly size?: number;
}

/** Remembers sessions and finds what fits a question, across the sessions of one user of one app. */
export interface MemoryService {
  /** Takes in the session's messages, replacing what it held of that session. */
  addSessionToMemory(session: Session): Promise<void>;
  /** Entries that hold any word of the query, oldest first. Words are runs of Unicode letters and digits; case is ignored. */
  searchMemory(owner: SessionOwner, query: string): Promise<MemoryEntry[]>;
  /** Forgets a session that is being deleted. */
  deleteSessionMemory(key: SessionKey): Promise<void>;
  /** Resolves when the store can be reached. Throws `unavailable`. */
  check?(): Promise<void>;
  close?(): Promise<void>;
}

/** What a run may store to. Artifacts and memory are optional: tools that need them get an error when they are absent. */
export interface Services {
  readonly sessions: SessionService;
  readonly artifacts?: ArtifactService;
  readonly memories?: MemoryService;
}

/** Makes a short account of a stretch of history. `undefined`: nothing worth keeping, so nothing is compacted. */
export interface EventsSummarizer {
  summarize(events: readonly Event[], signal: AbortSignal): Promise<Content | undefined>;
}
