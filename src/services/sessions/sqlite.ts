import type { AppendFencing } from '../../core/services.ts';
import type { SessionKey, SessionOwner } from '../../schemas/session.ts';
import { plausibleTimes, implausibleTime } from '../plausible-time.ts';
import type { SqliteDatabase } from '../sqlite/database.ts';
import { type ColumnTime, type Dialect, dialectOf } from '../sqlite/dialect.ts';
import type { SessionNumber } from './history-cache.ts';
import {
  type Appended,
  type AppendTarget,
  type EventRange,
  type EventRow,
  type NewSessionRow,
  type OutdatedBounds,
  type PlacedKey,
  type SessionRow,
  type SessionTables,
  sizeOf,
  type StateChanges,
  type StoredEventRow,
} from './session-tables.ts';
import { lastUpdateOf } from './sqlite-writes.ts';

interface Found extends Omit<SessionRow, 'lastUpdateTime'> {
  readonly update_time: ColumnTime;
  readonly clock_ms: ColumnTime | null;
  readonly last_update: number | null;
}

const rows = `select s.app_name as appName, s.user_id as userId, s.id as sessionId, s.num as sessionNumber,
  s.next_seq as nextSeq, s.revision as revision, s.state as state, a.state as appState, u.state as userState, s.imported,
  s.update_time, s.clock_ms, s.last_update
  from sessions s left join app_states a on a.app_name = s.app_name
  left join user_states u on u.app_name = s.app_name and u.user_id = s.user_id`;

const keys = 'select app_name as appName, user_id as userId, id as sessionId, num as place';

/** The session tables in SQLite. Only one server may use a file; ADK and tools may have it open, too. */
export class SqliteSessionTables implements SessionTables {
  readonly #database: SqliteDatabase;

  constructor(database: SqliteDatabase) {
    this.#database = database;
  }

  create(session: NewSessionRow): Promise<void> {
    return this.#database.write('createSession', session);
  }

  find({ appName, userId, sessionId }: SessionKey): Promise<SessionRow | undefined> {
    const sql = `${rows} where s.id = ? and s.app_name = ? and s.user_id = ?`;
    return this.#database.read((connection) => {
      const found = connection.get<Found>(sql, sessionId, appName, userId);
      return found && rowOf(found, dialectOf(connection));
    });
  }

  findByApp(appName: string, sessionId: string): Promise<SessionRow | undefined> {
    const sql = `${rows} where s.id = ? and s.app_name = ? order by s.user_id limit 1`;
    return this.#database.read((connection) => {
      const found = connection.get<Found>(sql, sessionId, appName);
      return found && rowOf(found, dialectOf(connection));
    });
  }

  list({ appName, userId }: SessionOwner): Promise<SessionRow[]> {
    const sql = `${rows} where s.app_name = ? and s.user_id = ? order by s.num`;
    return this.#database.read((connection) => {
      const dialect = dialectOf(connection);
      return connection.all<Found>(sql, appName, userId).map((found) => rowOf(found, dialect));
    });
  }

  initialState({ appName, userId, sessionId, sessionNumber = 0 }: AppendTarget): Promise<string | null> {
    const sql = `select initial_state as state from sessions where id = ? and app_name = ? and user_id = ?
      and ? in (0, num)`;
    const values = [sessionId, appName, userId, sessionNumber];
    return this.#database.read((connection) => connection.get<{ state: string | null }>(sql, ...values)?.state ?? null);
  }

  delete(key: SessionKey, only: SessionNumber | undefined): Promise<void> {
    return this.#database.write('deleteSession', { ...key, sessionNumber: only });
  }

  allAfter(after: PlacedKey['place'] | undefined, limit: number): Promise<PlacedKey[]> {
    const sql = `${keys} from sessions where num > ? order by num limit ?`;
    return this.#database.read((connection) => connection.all<PlacedKey>(sql, after ?? 0, limit));
  }

  outdated({ beforeMs, keep, limit }: OutdatedBounds): Promise<SessionKey[]> {
    return this.#database.read((connection) => {
      const written = dialectOf(connection).msColumn('update_time');
      const { earliestMs, latestMs } = plausibleTimes();
      const odd = connection.get<SessionKey & { time: ColumnTime }>(
        `${keys}, update_time as time from sessions
          where not coalesce(${written} between ? and ?, false) limit 1`,
        earliestMs,
        latestMs,
      );
      if (odd)
        throw implausibleTime(`Session "${odd.sessionId}" of app "${odd.appName}"`, 'sessions.update_time', odd.time);
      const sql = `${keys} from sessions where queued = 0 and (${written} < ? or num in (
          select num from sessions order by ${written} desc, num desc limit -1 offset coalesce(?, 1e15)))
        order by ${written} limit ?`;
      const found = connection.all<PlacedKey>(sql, beforeMs ?? null, keep ?? null, limit);
      return found.map(({ appName, userId, sessionId }) => ({ appName, userId, sessionId }));
    });
  }

  events(
    { appName, userId, sessionId, sessionNumber }: SessionRow,
    { from, to, limit, maxBytes, isDescending = false }: EventRange,
  ): Promise<StoredEventRow[]> {
    const sql = `select o.seq, o.body, case when o.body is null then e.event_data end as eventData
      from agent_events o left join events e on o.body is null
        and e.id = o.event_id and e.app_name = ? and e.user_id = ? and e.session_id = ?
      where o.place >= (? << 32) | ? and o.place < (? << 32) | ? order by o.place ${isDescending ? 'desc' : 'asc'} limit ?`;
    const values = [appName, userId, sessionId, sessionNumber, from, sessionNumber, to, limit];
    return this.#database.read((connection) => {
      const found: StoredEventRow[] = [];
      let bytes = 0;
      for (const row of connection.each<StoredEventRow>(sql, ...values)) {
        found.push(row);
        if ((bytes += sizeOf(row)) >= maxBytes) break;
      }
      return found;
    });
  }

  seqOf({ appName, userId, sessionId }: SessionRow, eventId: string): Promise<number | undefined> {
    const sql = 'select seq from events where id = ? and app_name = ? and user_id = ? and session_id = ?';
    return this.#database.read(
      (connection) => connection.get<{ seq: number }>(sql, eventId, appName, userId, sessionId)?.seq,
    );
  }

  append(
    target: AppendTarget,
    event: EventRow,
    changes: StateChanges,
    fencing: AppendFencing | undefined,
  ): Promise<Appended> {
    return this.#database.write('appendEvent', { target, event, changes, fencing });
  }

  check(): Promise<void> {
    return this.#database.check();
  }

  close(): Promise<void> {
    return this.#database.close();
  }
}

function rowOf(found: Found, dialect: Dialect): SessionRow {
  return { ...found, lastUpdateTime: lastUpdateOf(found, dialect) };
}
