import { AppError } from '../../base/errors.ts';
import { define, type JsonObject } from '../../base/json.ts';
import type { AppendFencing } from '../../core/services.ts';
import type { SessionKey } from '../../schemas/session.ts';
import type { Connection } from '../sqlite/connection.ts';
import type { ColumnTime, Dialect, TimeForm } from '../sqlite/dialect.ts';
import type { WriteContext } from '../sqlite/dialect.ts';
import { isConstraint } from '../sqlite/errors.ts';
import type { Appended, AppendTarget, EventRow, NewSessionRow, StateChange, StateChanges } from './session-tables.ts';

// The writes of sessions in SQLite. They run in the writer thread, within a transaction.

const ofSession = 'id = ? and app_name = ? and user_id = ?';

/** The connection, and the time format of the session. */
interface RowContext {
  readonly connection: Connection;
  readonly form: TimeForm;
}

export function createSession({ connection, dialect }: WriteContext, session: NewSessionRow): void {
  const { appName, userId, sessionId, changes, events, lastUpdateTime } = session;
  if (connection.get(`select 1 from sessions where ${ofSession}`, sessionId, appName, userId)) {
    throw new AppError('session_exists', `Session "${sessionId}" already exists`);
  }
  const form = dialect.form();
  const context: RowContext = { connection, form };
  const times: ColumnTime[] = [];
  for (const { timestamp } of events) times.push(form.time(timestamp, times.at(-1)));
  const [created, last] = [form.time(lastUpdateTime), times.at(-1)];
  // Not before the last event, so that appended events come after it.
  const updateTime = last !== undefined && last > created ? last : created;
  connection.run(`update agent_numbers set value = value + 1 where name = 'session'`);
  const number =
    connection.get<{ value: number }>(`select value from agent_numbers where name = 'session'`)?.value ?? 0;
  connection.run(
    `insert into sessions (id, app_name, user_id, state, create_time, update_time, num, next_seq, clock_ms, last_update,
      imported, initial_state) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    sessionId,
    appName,
    userId,
    JSON.stringify(changes.session?.set ?? {}),
    updateTime,
    updateTime,
    number,
    events.length + 1,
    updateTime,
    lastUpdateTime,
    session.imported,
    session.initialState,
  );
  changeScopes(context, session, changes);
  for (const [index, event] of events.entries()) {
    try {
      insertEvent(context, session, { ...event, number, seq: index + 1, time: times[index] ?? updateTime });
    } catch (error) {
      throw isConstraint(error) ? new AppError('invalid_request', 'Two events have the same id') : error;
    }
  }
}

// Constant texts, because prepared statements are cached by text.
const writableSession = `select rowid as place, num, next_seq, state, update_time, clock_ms, last_update, fence
  from sessions where ${ofSession}`;
const advance = 'update sessions set next_seq = ?, update_time = ?, clock_ms = ?, last_update = ?';
const advanceSession = `${advance} where rowid = ?`;
const advancePythonSession = `${advance}, event_sequence = event_sequence + 1 where rowid = ?`;

interface Writable {
  readonly place: number;
  readonly num: number;
  readonly next_seq: number;
  readonly state: string;
  readonly update_time: ColumnTime;
  readonly clock_ms: ColumnTime | null;
  readonly last_update: number | null;
  readonly fence: number;
}

export interface AppendInput {
  readonly target: AppendTarget;
  readonly event: EventRow;
  readonly changes: StateChanges;
  readonly fencing?: AppendFencing | undefined;
}

export function appendEvent({ connection, dialect }: WriteContext, input: AppendInput): Appended {
  const { target, event, changes, fencing } = input;
  const { appName, userId, sessionId, sessionNumber } = target;
  const row = connection.get<Writable>(writableSession, sessionId, appName, userId);
  if (!row || (sessionNumber !== undefined && sessionNumber !== row.num))
    throw new AppError('session_not_found', `Session not found: ${sessionId}`);
  const before = lastUpdateOf(row, dialect);
  if (fencing && fencing.fencingToken !== row.fence) {
    throw new AppError('session_changed', `Run "${fencing.runId}" does not own session "${sessionId}" any more`);
  }
  const stored = fencing && storedStep(connection, fencing);
  if (stored) return { ...stored, sessionNumber: row.num, lastUpdateTime: before };

  // ADK orders events by this time, so it grows with each.
  const context: RowContext = { connection, form: dialect.form(row.update_time) };
  const time = context.form.time(event.timestamp, row.update_time);
  const lastUpdateTime = dialect.isExact(time) ? dialect.seconds(time) : Math.max(before, event.timestamp);
  try {
    insertEvent(context, target, { ...event, ...fencing, number: row.num, seq: row.next_seq, time });
  } catch (error) {
    throw isConstraint(error) ? new AppError('invalid_request', `Event "${event.id}" is stored already`) : error;
  }
  connection.run(
    dialect.hasEventSequence ? advancePythonSession : advanceSession,
    row.next_seq + 1,
    time,
    time,
    lastUpdateTime,
    row.place,
  );
  if (changes.session) {
    const state = changedState(row.state, changes.session);
    connection.run('update sessions set state = ? where rowid = ?', state, row.place);
  }
  changeScopes(context, target, changes);
  return { sessionNumber: row.num, seq: row.next_seq, lastUpdateTime };
}

/** With a number, only the session with that number. */
export function deleteSession(
  { connection }: WriteContext,
  { appName, userId, sessionId, sessionNumber }: AppendTarget,
): void {
  const thisOne = `${ofSession} and (? is null or num = ?)`;
  const only = sessionNumber ?? null;
  const values = [sessionId, appName, userId, only, only];
  connection.run(
    `delete from events where (id, app_name, user_id, session_id) in (
      select event_id, app_name, user_id, id from sessions
        join agent_events on place >= num << 32 and place < (num + 1) << 32 where ${thisOne})`,
    ...values,
  );
  connection.run(`delete from sessions where ${thisOne}`, ...values);
}

/**
 * The exact time of the last update. ADK's column has milliseconds only, so ours has the exact time; but if ADK's column
 * differs from what we wrote last, ADK has written since, and its time is used.
 */
export function lastUpdateOf(
  {
    update_time: time,
    clock_ms: written,
    last_update: exact,
  }: Pick<Writable, 'update_time' | 'clock_ms' | 'last_update'>,
  dialect: Dialect,
): number {
  if (dialect.isExact(time)) return dialect.seconds(time);
  return written === time && exact !== null ? exact : Math.max(exact ?? 0, dialect.seconds(time));
}

interface NumberedEvent extends EventRow, Partial<AppendFencing> {
  readonly number: number;
  readonly seq: number;
  readonly time: ColumnTime;
}

function insertEvent({ connection, form }: RowContext, key: SessionKey, event: NumberedEvent): void {
  connection.run(
    `insert into events (id, app_name, user_id, session_id, invocation_id, timestamp, event_data, seq)
      values (?, ?, ?, ?, ?, ?, ?, ?)`,
    event.id,
    key.appName,
    key.userId,
    key.sessionId,
    event.invocationId,
    event.time,
    form.eventData(event.eventData, event.timestamp),
    event.seq,
  );
  connection.run(
    'insert into agent_events (place, event_id, run_id, step, body) values ((? << 32) | ?, ?, ?, ?, ?)',
    event.number,
    event.seq,
    event.id,
    event.runId ?? null,
    event.eventIndex ?? null,
    event.body,
  );
}

function storedStep(
  connection: Connection,
  { runId, eventIndex }: AppendFencing,
): { seq: number; stored: string } | undefined {
  return connection.get(
    'select seq, body as stored from agent_events where run_id = ? and step = ?',
    runId,
    eventIndex,
  );
}

function changeScopes({ connection, form }: RowContext, key: SessionKey, { app, user }: StateChanges): void {
  const { appName, userId } = key;
  const now = form.time(Date.now() / 1000);
  if (app) {
    const old = connection.get<{ state: string }>('select state from app_states where app_name = ?', appName);
    const state = changedState(old?.state ?? '{}', app);
    connection.run(
      'insert or replace into app_states (app_name, state, update_time) values (?, ?, ?)',
      appName,
      state,
      now,
    );
  }
  if (user) {
    const sql = 'select state from user_states where app_name = ? and user_id = ?';
    const state = changedState(connection.get<{ state: string }>(sql, appName, userId)?.state ?? '{}', user);
    const write = 'insert or replace into user_states (app_name, user_id, state, update_time) values (?, ?, ?, ?)';
    connection.run(write, appName, userId, state, now);
  }
}

function changedState(text: string, { removed, set }: StateChange): string {
  const state = JSON.parse(text) as JsonObject;
  for (const key of removed) delete state[key];
  for (const key of Object.keys(set)) define(state, key, set[key]);
  return JSON.stringify(state);
}
