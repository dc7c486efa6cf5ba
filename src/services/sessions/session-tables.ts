import type { JsonObject } from '../../base/json.ts';
import type { AppendGuard } from '../../core/services.ts';
import type { SessionKey, SessionOwner } from '../../schemas/session.ts';
import type { Position, SessionNumber } from './history-cache.ts';

/** A session as a database keeps it. States are JSON texts. */
export interface SessionRow extends SessionKey, Position {
  readonly state: string;
  readonly appState: string | null;
  readonly userState: string | null;
  /** How many of the events, from the first, a client brought along. */
  readonly imported: number;
  /** Seconds since the epoch. */
  readonly lastUpdateTime: number;
}

/** An event on its way into a database. */
export interface EventRow {
  readonly id: string;
  readonly invocationId: string;
  /** Seconds since the epoch. */
  readonly timestamp: number;
  /** Its JSON, made once; and the same as ADK keeps it. */
  readonly body: string;
  readonly eventData: string;
}

/** The same with the time ADK orders it by, in milliseconds. */
export interface TimedEventRow extends EventRow {
  readonly ms: number;
}

/** What a delta does to one state: keys to delete, and values to set. */
export interface StateChange {
  readonly removed: readonly string[];
  readonly set: JsonObject;
}

/** What a delta does to the states it names; `undefined` where it names none. */
export interface StateChanges {
  readonly app: StateChange | undefined;
  readonly user: StateChange | undefined;
  readonly session: StateChange | undefined;
}

export interface NewSessionRow extends SessionKey {
  /** JSON of the session's own state without what its events changed; `null` when it is empty. */
  readonly initialState: string | null;
  readonly changes: StateChanges;
  readonly events: readonly TimedEventRow[];
  readonly imported: number;
  /** Seconds since the epoch. */
  readonly lastUpdateTime: number;
  /** The same as ADK keeps it: not before the last event, so that what is appended comes after it there, too. */
  readonly updateMs: number;
}

/** Where an append goes. With a number, to the session of that number only. */
export interface AppendTarget extends SessionKey {
  readonly sessionNumber: SessionNumber | undefined;
}

export interface Appended {
  readonly sessionNumber: SessionNumber;
  readonly seq: number;
  readonly lastUpdateTime: number;
  /** The JSON of the event a repeated append finds stored already. */
  readonly stored?: string;
}

/** One event read back. `body` is absent for events other programs wrote: then `eventData` holds it. */
export interface StoredEventRow {
  readonly seq: number;
  readonly body: string | null;
  readonly eventData: string | null;
}

/** Roughly the bytes of an event. */
export const sizeOf = ({ body, eventData }: StoredEventRow): number => (body ?? eventData ?? '').length;

/** Events numbered `from` to below `to`. */
export interface EventRange {
  readonly from: number;
  readonly to: number;
  /** At most so many. */
  readonly limit: number;
  /** No more once these are reached, roughly. */
  readonly maxBytes: number;
  /** From the last one down. */
  readonly isDescending?: boolean;
}

/** Sessions without open runs that are too old or too many; at most `limit` of them. */
export interface OutdatedBounds {
  /** Last written to before this time. */
  readonly beforeMs: number | undefined;
  /** Behind so many that were written to last. */
  readonly keep: number | undefined;
  readonly limit: number;
}

export interface PlacedKey extends SessionKey {
  /** Where the session stands in the order of creation, as `allAfter` takes it. */
  readonly place: number | string;
}

/** What a session store asks of its database. All of it throws `unavailable` when that is out of reach. */
export interface SessionTables {
  /** Throws `session_exists`, and `invalid_request` for an event id that is used twice. */
  create(session: NewSessionRow): Promise<void>;
  find(key: SessionKey): Promise<SessionRow | undefined>;
  /** The first session of that id of any user of the app. */
  findByApp(appName: string, sessionId: string): Promise<SessionRow | undefined>;
  list(owner: SessionOwner): Promise<SessionRow[]>;
  /** What was given at the session's creation as its `initialState`. */
  initialState(target: AppendTarget): Promise<string | null>;
  /** With a number, only the session of that number. */
  delete(key: SessionKey, only: SessionNumber | undefined): Promise<void>;
  /** Sessions behind a place (absent: all), in the order they were created, at most `limit`. */
  allAfter(after: PlacedKey['place'] | undefined, limit: number): Promise<PlacedKey[]>;
  outdated(bounds: OutdatedBounds): Promise<SessionKey[]>;
  events(session: SessionRow, range: EventRange): Promise<StoredEventRow[]>;
  /** The number of an event; `undefined` when the session has none of that id. */
  seqOf(session: SessionRow, eventId: string): Promise<number | undefined>;
  /** Throws `session_not_found`, `invalid_request` for an id that is stored, and `session_changed` when the guard fails. */
  append(
    target: AppendTarget,
    event: EventRow,
    changes: StateChanges,
    guard: AppendGuard | undefined,
  ): Promise<Appended>;
  check(): Promise<void>;
  close(): Promise<void>;
}
