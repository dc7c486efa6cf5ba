import type { JsonObject } from '../base/json.ts';
import type { Content, Part } from '../schemas/content.ts';
import type { Event } from '../schemas/event.ts';
import type { ArtifactVersion, ListEventsResponse, MemoryEntry } from '../schemas/records.ts';
import type {
  Generation,
  GetSessionConfig,
  ReadonlySession,
  Session,
  SessionKey,
  SessionOwner,
  State,
} from '../schemas/session.ts';
import type { UsageStore } from './usage-store.ts';

/**
 * Stores sessions. `appendEvent` is the only way to store an event and its state changes; the event is durable once it
 * resolves. Returned sessions share frozen events with the store, but no array and no map.
 */
export interface SessionService {
  /**
   * A blank or absent id is generated (UUID). Initial `app:` and `user:` keys go to their scopes, `temp:` keys are
   * dropped; `events` are stored in order. Their deltas change the session's own state, but not `app:` and `user:` keys,
   * because they are past. Throws `session_exists`.
   */
  createSession(owner: SessionOwner, options?: NewSession): Promise<Session>;
  /**
   * The session with its merged state (app, user, session), or `undefined`. An evaluation session (its id starts with
   * `___eval___session___`) is found under any user of its app, for views that know only the id.
   */
  getSession(key: SessionKey, config?: GetSessionConfig): Promise<Session | undefined>;
  /**
   * The same with lazily read events, for histories larger than memory. Optional: in-memory stores do not need it.
   */
  readSession?(key: SessionKey, config?: GetSessionConfig): Promise<SessionReading | undefined>;
  /** The owner's sessions without events, with merged state. Leaves out evaluation sessions. */
  listSessions(owner: SessionOwner): Promise<Session[]>;
  /** An unknown session is no error. With `only`, a newer session with the same key is not deleted. */
  deleteSession(key: SessionKey, only?: Generation): Promise<void>;
  /**
   * A page of events, at the cost of a page; `total` counts all stored ones. Throws `session_not_found`, and
   * `event_not_found` for an event the page refers to.
   */
  listEvents(key: SessionKey, page?: EventPage): Promise<ListEventsResponse>;
  /**
   * Stores an event, applies its state delta (`null` deletes a key) to the store and to `session`, and returns the stored,
   * frozen event: without `temp:` keys, which remain in `session` only. Returns a partial event unchanged and does not
   * store it. Throws `invalid_request` for an id that is stored already, and `session_not_found` if the session was
   * deleted, even if a new one has its key.
   *
   * With `fencing`, it appends only while the run still owns the session (else `session_changed`), and once for each
   * step: if an event of this step is stored already, it returns that. Stores that several servers share check it
   * in the appending transaction; others may ignore it.
   */
  appendEvent(session: Session, event: Event, fencing?: AppendFencing): Promise<Event>;
  /** The session's own state at its creation. Absent in stores that do not keep it. */
  initialState?(session: Session): Promise<State>;
  /** Releases the resources of a session that will not be used for a while. */
  closeSession(session: Session): Promise<void>;
  /** Resolves when the store can be reached. Throws `unavailable`. */
  check?(): Promise<void>;
  /** Releases connections and files. The service is not used afterwards. */
  close?(): Promise<void>;
}

/** Proof that a run may append: its fencing token, and the number of this event among its stored ones. */
export interface AppendFencing {
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
  /** How many of the events, from the first, a client imported: the store marks them (`isImported`) on each read. Default 0. */
  readonly imported?: number;
  /** In seconds, for a session copied from another store. A store that sets its own times may ignore it. */
  readonly lastUpdateTime?: number;
}

/** A session whose events are read lazily, in order and once. */
export interface SessionReading extends Omit<Session, 'events'> {
  readonly events: Iterable<Event> | AsyncIterable<Event>;
}

export interface EventPage {
  /** Default 100, at most 1,000. */
  readonly pageSize?: number;
  /** Approximate bytes: the page ends with the event that reaches them. Default 16 MB. */
  readonly maxBytes?: number;
  /** From the previous page, with otherwise equal options. */
  readonly pageToken?: string;
  /** In stored order (default), or newest first. */
  readonly order?: 'asc' | 'desc';
  /** The event the page starts with. */
  readonly from?: string;
  /** Only events stored after this one, and before that one. */
  readonly after?: string;
  readonly before?: string;
}

/** Stores versioned files of a session. Names that start with `user:` belong to the user and appear in all of the user's sessions. */
export interface ArtifactService {
  /** Stores a new version (from 0) of inline data, text or a file reference, and returns its number. */
  saveArtifact(key: SessionKey, name: string, artifact: Part, metadata?: JsonObject): Promise<number>;
  /** The same for a copy of a version. It keeps its number unless that or a later one exists. */
  saveArtifactCopy?(key: SessionKey, name: string, artifact: Part, copied: CopiedVersion): Promise<number>;
  /**
   * The same for streamed content of any size. Absent in stores that cannot stream. Throws what `bytes` throws, and then
   * stores nothing.
   */
  saveArtifactContent?(key: SessionKey, name: string, content: NewContent, metadata?: JsonObject): Promise<number>;
  /** Opens inline data or text as a stream; `undefined` if there is none. Absent in stores that cannot stream. */
  openArtifact?(key: SessionKey, name: string, version?: number): Promise<StoredContent | undefined>;
  /** The latest version unless one is named; `undefined` when there is none. */
  loadArtifact(key: SessionKey, name: string, version?: number): Promise<Part | undefined>;
  /** Session and user names, sorted. */
  listArtifactKeys(key: SessionKey): Promise<string[]>;
  /** Ascending; empty when the artifact does not exist. */
  listVersions(key: SessionKey, name: string): Promise<StoredArtifactVersion[]>;
  /** Deletes all versions. An unknown artifact is no error. */
  deleteArtifact(key: SessionKey, name: string): Promise<void>;
  /** Deletes all artifacts of a session; the user's artifacts stay. */
  deleteSessionArtifacts(key: SessionKey): Promise<void>;
  /**
   * Deletes old versions, and orphaned data such as aborted uploads. Returns the number of deleted versions. The newest
   * version of each artifact stays, versions keep their numbers, and later saves continue the count.
   */
  collectGarbage?(limits: VersionLimits, options: CollectOptions): Promise<number>;
  /** Resolves when the store can be reached. Throws `unavailable`. */
  check?(): Promise<void>;
  close?(): Promise<void>;
}

/** What a copy keeps of its original version. */
export interface CopiedVersion {
  readonly version: number;
  readonly metadata: JsonObject;
}

/** Which versions of an artifact are old: those that exceed any of the limits. */
export interface VersionLimits {
  /** Number of newest versions to keep; at least 1. */
  readonly keep?: number | undefined;
  /** Versions saved before this time are old, in seconds since the epoch; never the newest one. */
  readonly savedBefore?: number | undefined;
}

export interface CollectOptions {
  readonly signal: AbortSignal;
  /** Count only; delete nothing. */
  readonly isTrial: boolean;
}

/** Content to store. */
export interface NewContent {
  readonly mimeType: string;
  readonly bytes: AsyncIterable<Uint8Array>;
}

/** Stored content. */
export interface StoredContent {
  readonly about: StoredArtifactVersion;
  readonly size: number;
  /** Reads from `start` up to, not including, `end`, on demand. */
  read(range?: { readonly start: number; readonly end: number }): AsyncIterable<Uint8Array>;
}

/** A stored version with its size. */
export interface StoredArtifactVersion extends ArtifactVersion {
  /** Bytes of content, if the store knows them without loading it. */
  readonly size?: number;
}

/** Searches messages across the sessions of one user of one app. */
export interface MemoryService {
  /** Adds the session's messages, and replaces earlier ones of the same session. */
  addSessionToMemory(session: ReadonlySession): Promise<void>;
  /** Entries that contain any word of the query, oldest first. Words are runs of Unicode letters and digits; case is ignored. */
  searchMemory(owner: SessionOwner, query: string): Promise<MemoryEntry[]>;
  /** Deletes the entries of a session. */
  deleteSessionMemory(key: SessionKey): Promise<void>;
  /** Resolves when the store can be reached. Throws `unavailable`. */
  check?(): Promise<void>;
  close?(): Promise<void>;
}

/** The services of a run. Artifacts and memories are optional: tools that need them get an error if they are absent. */
export interface Services {
  readonly sessions: SessionService;
  readonly artifacts?: ArtifactService;
  readonly memories?: MemoryService;
  /** Counts usage for budgets. Not for agents and tools: their context lacks it. */
  readonly usage?: UsageStore;
}

/** Summarises events. `undefined`: there is nothing to summarise, so the events stay. */
export interface EventsSummarizer {
  summarize(events: readonly Event[], signal: AbortSignal): Promise<Content | undefined>;
}
