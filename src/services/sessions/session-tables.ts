import type { JsonObject } from '../../base/json.ts';
import type { AppendFencing } from '../../core/services.ts';
import type { SessionKey, SessionOwner } from '../../schemas/session.ts';
import type { Position, SessionNumber } from './history-cache.ts';

/** A session as a database row. States are JSON texts. */
export interface SessionRow extends SessionKey, Position {
  readonly state: string;
  readonly appState: string | null;
  readonly userState: string | null;
  /** How many events at the start a client imported. */
  readonly imported: number;
  /** Seconds since the epoch. */
  readonly lastUpdateTime: number;
}

/** An event for the database. */
export interface EventRow {
  readonly id: string;
  readonly invocationId: string;
  /** Seconds since the epoch. */
  readonly timestamp: number;
  /** Its JSON, and its JSON in ADK's form. */
  readonly body: string;
  readonly eventData: string;
}

/** The same with the time by which ADK orders it, in milliseconds. */
export interface TimedEventRow extends EventRow {
  readonly ms: number;
}

/** The change of one state: keys to delete, and values to set. */
export interface StateChange {
  readonly removed: readonly string[];
  readonly set: JsonObject;
}

/** The changes per state; `undefined` for an unchanged one. */
export interface StateChanges {
  readonly app: StateChange | undefined;
  readonly user: StateChange | undefined;
  readonly session: StateChange | undefined;
}

export interface NewSessionRow extends SessionKey {
  /** JSON of the session's own state before its events; `null` when it is empty. */
  readonly initialState: string | null;
  readonly changes: StateChanges;
  readonly events: readonly TimedEventRow[];
  readonly imported: number;
  /** Seconds since the epoch. */
  readonly lastUpdateTime: number;
  /** The same in ADK's form. Not before the last event, so that appended events come after it in ADK's order, too. */
  readonly updateMs: number;
}

/** The target of an append. With a number, only the session with that number. */
export interface AppendTarget extends SessionKey {
  readonly sessionNumber: SessionNumber | undefined;
}

export interface Appended {
  readonly sessionNumber: SessionNumber;
  readonly seq: number;
  readonly lastUpdateTime: number;
  /** The JSON of the stored event, if the append is a repetition. */
  readonly stored?: string;
}

/** A stored event. `body` is absent for events of other programs; then `eventData` has the event. */
export interface StoredEventRow {
  readonly seq: number;
  readonly body: string | null;
  readonly eventData: string | null;
}

/** Approximate bytes of an event. */
export const sizeOf = ({ body, eventData }: StoredEventRow): number => (body ?? eventData ?? '').length;

/** Events numbered `from` to below `to`. */
export interface EventRange {
  readonly from: number;
  readonly to: number;
  /** Maximum number of events. */
  readonly limit: number;
  /** Approximate limit in bytes. */
  readonly maxBytes: number;
  /** In descending order. */
  readonly isDescending?: boolean;
}

/** Selects sessions without open runs that are too old or too many; at most `limit`. */
export interface OutdatedBounds {
  /** Sessions with their last write before this time. */
  readonly beforeMs: number | undefined;
  /** Sessions beyond this number of the most recently written ones. */
  readonly keep: number | undefined;
  readonly limit: number;
}

export interface PlacedKey extends SessionKey {
  /** The session's position in the order of creation, for `allAfter`. */
  readonly place: number | string;
}

/** The statements of a session store in a database. All throw `unavailable` when it is unreachable. */
export interface SessionTables {
  /** Throws `session_exists`, and `invalid_request` for a duplicate event id. */
  create(session: NewSessionRow): Promise<void>;
  find(key: SessionKey): Promise<SessionRow | undefined>;
  /** The first session with that id, of any user of the app. */
  findByApp(appName: string, sessionId: string): Promise<SessionRow | undefined>;
  list(owner: SessionOwner): Promise<SessionRow[]>;
  /** The `initialState` from the session's creation. */
  initialState(target: AppendTarget): Promise<string | null>;
  /** With a number, only the session with that number. */
  delete(key: SessionKey, only: SessionNumber | undefined): Promise<void>;
  /** Sessions after a position (absent: all) in the order of creation, at most `limit`. */
  allAfter(after: PlacedKey['place'] | undefined, limit: number): Promise<PlacedKey[]>;
  outdated(bounds: OutdatedBounds): Promise<SessionKey[]>;
  events(session: SessionRow, range: EventRange): Promise<StoredEventRow[]>;
  /** The number of an event; `undefined` if the session has no event with that id. */
  seqOf(session: SessionRow, eventId: string): Promise<number | undefined>;
  /** Throws `session_not_found`, `invalid_request` for an existing event id, and `session_changed` for an old fencing token. */
  append(
    target: AppendTarget,
    event: EventRow,
    changes: StateChanges,
    fencing: AppendFencing | undefined,
  ): Promise<Appended>;
  check(): Promise<void>;
  close(): Promise<void>;
}
