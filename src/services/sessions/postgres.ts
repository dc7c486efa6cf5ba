import { setTimeout as pause } from 'node:timers/promises';
import { AppError } from '../../base/errors.ts';
import type { AppendFencing } from '../../core/services.ts';
import type { SessionKey, SessionOwner } from '../../schemas/session.ts';
import { adkMs } from '../adk-time.ts';
import { plausibleTimes, implausibleTime } from '../plausible-time.ts';
import type { PostgresDatabase, Queryable } from '../postgres/database.ts';
import type { Dialect } from '../postgres/dialect.ts';
import { isConflict, isOutage, sqlStateOf } from '../postgres/errors.ts';
import { fromJsonb, toJsonb } from '../postgres/jsonb.ts';
import type { SessionNumber } from './history-cache.ts';
import { type SessionStatements, sessionStatements } from './postgres-statements.ts';
import type {
  Appended,
  AppendTarget,
  EventRange,
  EventRow,
  NewSessionRow,
  OutdatedBounds,
  PlacedKey,
  SessionRow,
  SessionTables,
  StateChange,
  StateChanges,
  StoredEventRow,
} from './session-tables.ts';

const uniqueViolation = '23505';
/** Imported events per statement. */
const importedAtOnce = 500;
/** Pauses between attempts of an append while the database is unreachable; the last one repeats. */
const retryPausesMs = [50, 150, 300, 500, 1_000];
/** How long an append is retried: a run survives a restart of the database. */
const retryLimitMs = 5_000;
/** The same for the first event of a run: its client still waits for any response. */
const firstRetryLimitMs = 1_500;

const keys = `select app_name as "appName", user_id as "userId", id as "sessionId", num::float8 as place`;

/** The session tables in PostgreSQL. Any number of servers may share them. */
export class PostgresSessionTables implements SessionTables {
  readonly #database: PostgresDatabase;
  #statements: SessionStatements | undefined;

  constructor(database: PostgresDatabase) {
    this.#database = database;
  }

  async create(session: NewSessionRow): Promise<void> {
    const { create, importEvents } = await this.#prepared();
    const { appName, userId, sessionId, changes, events, lastUpdateTime, updateMs } = session;
    const values = [
      appName,
      userId,
      sessionId,
      setOf(changes.session) ?? '{}',
      updateMs,
      lastUpdateTime,
      events.length,
      ...scopeValues(changes),
      session.imported,
      session.initialState,
    ];
    const taken = new AppError('session_exists', `Session "${sessionId}" already exists`);
    if (events.length === 0) {
      const made = await this.#database.query({ name: 'agent-create', text: create, values });
      if (made.length === 0) throw taken;
      return;
    }
    await this.#database.transaction(async (client) => {
      const { rows } = await client.query<{ num: number }>({ text: create, values });
      const made = rows[0];
      if (!made) throw taken;
      await insertEvents(client, importEvents, { ...session, number: made.num });
    });
  }

  async find({ appName, userId, sessionId }: SessionKey): Promise<SessionRow | undefined> {
    const { find } = await this.#prepared();
    return this.#row({ name: 'agent-find', text: find, values: [appName, userId, sessionId] });
  }

  async findByApp(appName: string, sessionId: string): Promise<SessionRow | undefined> {
    const { findByApp } = await this.#prepared();
    return this.#row({ name: 'agent-find-by-app', text: findByApp, values: [appName, sessionId] });
  }

  async list({ appName, userId }: SessionOwner): Promise<SessionRow[]> {
    const { list } = await this.#prepared();
    const query = { name: 'agent-list', text: list, values: [appName, userId] };
    return (await this.#database.query<SessionRow>(query)).map(readable);
  }

  async initialState({ appName, userId, sessionId, sessionNumber }: AppendTarget): Promise<string | null> {
    const text = `select initial_state as state from sessions where app_name = $1 and user_id = $2 and id = $3
      and ($4::bigint is null or num = $4)`;
    const values = [appName, userId, sessionId, sessionNumber ?? null];
    return (await this.#database.query<{ state: string | null }>(text, values))[0]?.state ?? null;
  }

  async delete({ appName, userId, sessionId }: SessionKey, only: SessionNumber | undefined): Promise<void> {
    const values = [appName, userId, sessionId, only ?? null];
    // Not every version of ADK's tables has a cascade; a trigger deletes from our own tables.
    await this.#database.query({
      name: 'agent-delete',
      text: `with gone as (delete from sessions where app_name = $1 and user_id = $2 and id = $3
          and ($4::bigint is null or num = $4) returning num)
        delete from events where (id, app_name, user_id, session_id) in (
          select event_id, $1, $2, $3 from agent_events join gone on session_num = num)`,
      values,
    });
  }

  allAfter(after: PlacedKey['place'] | undefined, limit: number): Promise<PlacedKey[]> {
    const text = `${keys} from sessions where num > $1 order by num limit $2`;
    return this.#database.query<PlacedKey>(text, [after ?? 0, limit]);
  }

  async outdated({ beforeMs, keep, limit }: OutdatedBounds): Promise<SessionKey[]> {
    const { time } = await this.#database.dialect();
    await this.#requirePlausibleTimes(time);
    const text = `${keys} from sessions where queued = 0 and (
        ($1::float8 is not null and update_time < ${time('$1::float8')}) or ($2::bigint is not null and num in (
          select num from sessions order by update_time desc, num desc offset $2::bigint)))
      order by update_time limit $3`;
    const found = await this.#database.query<PlacedKey>(text, [beforeMs ?? null, keep ?? null, limit]);
    return found.map(({ appName, userId, sessionId }) => ({ appName, userId, sessionId }));
  }

  async #requirePlausibleTimes(time: Dialect['time']): Promise<void> {
    const { earliestMs, latestMs } = plausibleTimes();
    const text = `${keys}, update_time::text as time from sessions
      where (update_time between ${time('$1::float8')} and ${time('$2::float8')}) is not true limit 1`;
    const [odd] = await this.#database.query<PlacedKey & { time: string }>(text, [earliestMs, latestMs]);
    if (odd)
      throw implausibleTime(`Session "${odd.sessionId}" of app "${odd.appName}"`, 'sessions.update_time', odd.time);
  }

  async events(
    { appName, userId, sessionId, sessionNumber }: SessionRow,
    { from, to, limit, maxBytes, isDescending = false }: EventRange,
  ): Promise<StoredEventRow[]> {
    const { events, eventsBackwards } = await this.#prepared();
    const values = [appName, userId, sessionId, sessionNumber, from, to, limit, maxBytes];
    return this.#database.query<StoredEventRow>(
      isDescending
        ? { name: 'agent-events-backwards', text: eventsBackwards, values }
        : { name: 'agent-events', text: events, values },
    );
  }

  async seqOf({ appName, userId, sessionId }: SessionRow, eventId: string): Promise<number | undefined> {
    const text = `select seq::float8 as seq from events
      where id = $1 and app_name = $2 and user_id = $3 and session_id = $4`;
    const values = [eventId, appName, userId, sessionId];
    return (await this.#database.query<{ seq: number }>({ name: 'agent-seq-of', text, values }))[0]?.seq;
  }

  /**
   * After a lost response it is unknown whether the event was stored, so the append is repeated: an event with the same id
   * and body is our own.
   */
  async append(
    target: AppendTarget,
    event: EventRow,
    changes: StateChanges,
    fencing: AppendFencing | undefined,
  ): Promise<Appended> {
    const endMs = performance.now() + (fencing?.eventIndex === 0 ? firstRetryLimitMs : retryLimitMs);
    for (let attempt = 0; ; attempt += 1) {
      const sentMs = performance.now();
      try {
        const appended = await this.#appendOnce(target, event, changes, fencing);
        return appended ?? (await this.#explain(target, fencing));
      } catch (error) {
        const cause = error instanceof AppError ? error.cause : error;
        if (sqlStateOf(cause) === uniqueViolation) {
          const stored = fencing || attempt > 0 ? await this.#stored(target, event, fencing) : undefined;
          if (stored) return stored;
          throw new AppError('invalid_request', `Event "${event.id}" is stored already`, { cause: error });
        }
        const pauseMs = retryPausesMs[attempt] ?? retryPausesMs.at(-1) ?? 0;
        const againMs = 2 * performance.now() - sentMs + pauseMs; // the end of the next attempt, if it takes as long as this one
        if (againMs > endMs || !(isOutage(cause) || isConflict(cause))) throw error;
        await pause(pauseMs);
      }
    }
  }

  check(): Promise<void> {
    return this.#database.check();
  }

  close(): Promise<void> {
    return this.#database.close();
  }

  async #appendOnce(
    { appName, userId, sessionId, sessionNumber }: AppendTarget,
    event: EventRow,
    changes: StateChanges,
    fencing: AppendFencing | undefined,
  ): Promise<Appended | undefined> {
    const { append } = await this.#prepared();
    const shape = {
      isFenced: fencing !== undefined,
      changesState: changes.session !== undefined,
      changesScopes: changes.app !== undefined || changes.user !== undefined,
    };
    const values: unknown[] = [appName, userId, sessionId, adkMs(event.timestamp), event.timestamp];
    values.push(event.id, event.invocationId, toJsonb(event.eventData), event.body, sessionNumber ?? null);
    if (fencing) values.push(fencing.runId, fencing.eventIndex, fencing.fencingToken);
    if (changes.session) values.push(setOf(changes.session), keysOf(changes.session.removed));
    if (shape.changesScopes) values.push(...scopeValues(changes));
    return (await this.#database.query<Appended>({ ...append(shape), values }))[0];
  }

  /** Why nothing was appended; or, for an event that was stored before, that event. */
  async #explain(target: AppendTarget, fencing: AppendFencing | undefined): Promise<Appended> {
    const row = await this.#target(target);
    if (!row || !fencing) throw new AppError('session_not_found', `Session not found: ${target.sessionId}`);
    const stored = await this.#storedStep(row, fencing);
    if (stored) return stored;
    throw new AppError('session_changed', `Run "${fencing.runId}" does not own session "${target.sessionId}" any more`);
  }

  async #target(target: AppendTarget): Promise<SessionRow | undefined> {
    const row = await this.find(target);
    return target.sessionNumber === undefined || row?.sessionNumber === target.sessionNumber ? row : undefined;
  }

  async #stored(
    target: AppendTarget,
    event: EventRow,
    fencing: AppendFencing | undefined,
  ): Promise<Appended | undefined> {
    const row = await this.#target(target);
    if (!row) return undefined;
    if (fencing) return this.#storedStep(row, fencing);
    const [found] = await this.#database.query<{ seq: number }>(
      `select o.seq::float8 as seq from events e join agent_events o on o.session_num = $1 and o.seq = e.seq
        where e.id = $2 and e.app_name = $3 and e.user_id = $4 and e.session_id = $5 and o.body = $6`,
      [row.sessionNumber, event.id, row.appName, row.userId, row.sessionId, event.body],
    );
    return found && { sessionNumber: row.sessionNumber, seq: found.seq, lastUpdateTime: row.lastUpdateTime };
  }

  /** The stored event with this index of the run, if the run still owns the session. */
  async #storedStep(
    row: SessionRow,
    { runId, eventIndex, fencingToken }: AppendFencing,
  ): Promise<Appended | undefined> {
    const [found] = await this.#database.query<{ seq: number; stored: string }>(
      `select o.seq::float8 as seq, o.body as stored from agent_events o join sessions s on s.num = o.session_num
        where o.run_id = $1 and o.step = $2 and s.id = $3 and s.app_name = $4 and s.user_id = $5 and s.fence = $6`,
      [runId, eventIndex, row.sessionId, row.appName, row.userId, fencingToken],
    );
    return found && { ...found, sessionNumber: row.sessionNumber, lastUpdateTime: row.lastUpdateTime };
  }

  async #row(query: { name: string; text: string; values: unknown[] }): Promise<SessionRow | undefined> {
    const [row] = await this.#database.query<SessionRow>(query);
    return row && readable(row);
  }

  async #prepared(): Promise<SessionStatements> {
    return (this.#statements ??= sessionStatements(await this.#database.dialect()));
  }
}

async function insertEvents(
  client: Queryable,
  text: string,
  { appName, userId, sessionId, events, number }: NewSessionRow & { number: number },
): Promise<void> {
  for (let start = 0; start < events.length; start += importedAtOnce) {
    const some = events.slice(start, start + importedAtOnce);
    const values = [
      appName,
      userId,
      sessionId,
      number,
      some.map(({ id }) => id),
      some.map(({ invocationId }) => invocationId),
      some.map(({ ms }) => ms),
      some.map(({ eventData }) => toJsonb(eventData)),
      some.map(({ body }) => body),
      start,
    ];
    try {
      await client.query({ text, values });
    } catch (error) {
      if (sqlStateOf(error) !== uniqueViolation) throw error;
      throw new AppError('invalid_request', 'Two events have the same id', { cause: error });
    }
  }
}

const setOf = (change: StateChange | undefined): string | null => (change ? toJsonb(JSON.stringify(change.set)) : null);

/** Keys as stored in the database, which escapes some characters. */
const keysOf = (names: readonly string[]): string[] =>
  names.map((name) => JSON.parse(toJsonb(JSON.stringify(name))) as string);

const scopeValues = ({ app, user }: StateChanges): unknown[] =>
  [app, user].flatMap((change) => [setOf(change), change ? keysOf(change.removed) : null]);

const readable = (row: SessionRow): SessionRow => ({
  ...row,
  state: fromJsonb(row.state) ?? '{}',
  appState: fromJsonb(row.appState),
  userState: fromJsonb(row.userState),
});
