import { AppError } from '../../base/errors.ts';
import {
  type AdoptedRun,
  type Begun,
  leaseMs,
  type NewRun,
  type Placed,
  type Placing,
  ranks,
  type RunEnd,
  type RunKind,
  type RunRef,
} from '../../core/run-store.ts';
import type { SessionKey } from '../../schemas/session.ts';
import type { Connection } from '../sqlite/connection.ts';
import type { WriteContext } from '../sqlite/dialect.ts';
import { forgottenAtOnce, isEnded, refusal, rowIdOf } from './run-rows.ts';

// What changes runs in SQLite. Runs in the thread that writes, within a transaction.

const isOpen = `state in ('queued', 'running')`;
/** Who goes next: the run in progress, then those of the highest rank (`front`), as they came. */
const inLine = `${isOpen} order by state = 'running' desc, front desc, pos`;

interface SessionLine {
  readonly num: number;
  readonly queued: number;
  readonly owner: string | null;
  readonly fence: number;
}

const lineOf = (connection: Connection, { appName, userId, sessionId }: SessionKey): SessionLine | undefined =>
  connection.get(
    'select num, queued, owner, fence from sessions where id = ? and app_name = ? and user_id = ?',
    sessionId,
    appName,
    userId,
  );

export interface EnterInput {
  readonly home: string;
  readonly run: NewRun;
  readonly placing: Placing;
}

export function enterRun({ connection }: WriteContext, { home, run, placing }: EnterInput): Placed {
  const { key, idempotencyKey = null } = run;
  const line = lineOf(connection, key);
  if (!line || line.queued > placing.maxOpen) throw refusal(key, placing.maxOpen, line !== undefined);
  const asked = `select 1 from agent_runs where session_num = ? and idempotency_key = ?`;
  if (idempotencyKey !== null && connection.get(asked, line.num, idempotencyKey)) {
    throw new AppError('run_exists', 'There is a run of this Idempotency-Key already');
  }
  const id = rowIdOf(line.num, key.runId);
  if (connection.get(`select 1 from agent_runs where id = ? and ${isOpen}`, id)) {
    throw new AppError('session_busy', `Run "${key.runId}" is not over yet`, { retryAfter: 1 });
  }
  connection.run('delete from agent_runs where id = ?', id);
  const begins = line.queued === 0;
  const takesBack = run.takesBack ?? (run.takesBackCurrent ? runBefore(connection, line.num) : undefined);
  const now = Date.now();
  connection.run(
    `insert into agent_runs (id, session_num, invocation_id, home, kind, is_detached, input, idempotency_key,
      fingerprint, state, created_at, started_at, front, takes_back) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    id,
    line.num,
    key.runId,
    home,
    run.kind,
    run.isDetached ? 1 : 0,
    run.input,
    idempotencyKey,
    run.fingerprint ?? null,
    begins ? 'running' : 'queued',
    now,
    begins ? now : null,
    placing.rank,
    takesBack ?? null,
  );
  connection.run('update sessions set queued = queued + 1 where num = ?', line.num);
  const fence = begins ? own(connection, line.num, home) : undefined;
  tellAlive(connection, home);
  return {
    ref: { session: line.num, id },
    createdAtMs: now,
    startedAtMs: begins ? now : undefined,
    fence,
    steps: run.isNew ? 0 : stepsOf(connection, id),
  };
}

export function beginRun(
  { connection }: WriteContext,
  { home, ref }: { home: string; ref: RunRef },
): Begun | 'waits' | 'gone' | 'deleted' {
  const line = connection.get<SessionLine>('select num, queued, owner, fence from sessions where num = ?', ref.session);
  if (!line) return 'deleted';
  const row = connection.get<WaitingRow>(
    'select state, home, kind, takes_back as takesBack from agent_runs where id = ?',
    ref.id,
  );
  if (row?.state !== 'queued' || row.home !== home) return 'gone';
  const head = connection.get<{ id: string }>(
    `select id from agent_runs where session_num = ? and ${inLine} limit 1`,
    ref.session,
  );
  if (line.owner !== null || head?.id !== ref.id) return 'waits';
  const takesBack = replacedRun(connection, ref, row);
  const begin = `update agent_runs set state = 'running', started_at = ?, takes_back = ? where id = ?`;
  const now = Date.now();
  connection.run(begin, now, takesBack ?? null, ref.id);
  const superseding = `select 1 from agent_runs where session_num = ? and state = 'queued' and front = ?`;
  const isSuperseded = connection.get(superseding, ref.session, ranks.preempting) !== undefined;
  return { fence: own(connection, ref.session, home), startedAtMs: now, isSuperseded, takesBack };
}

interface WaitingRow {
  readonly state: string;
  readonly home: string | null;
  readonly kind: RunKind;
  readonly takesBack: string | null;
}

/** The run in progress, or the one that is about to begin. */
function runBefore(connection: Connection, session: number): string | undefined {
  const sql = `select invocation_id as id from agent_runs where session_num = ?
    and (state = 'running' or (state = 'queued' and front > 0)) order by state = 'running' desc, front desc, pos limit 1`;
  return connection.get<{ id: string }>(sql, session)?.id;
}

/** The run whose events one takes back that takes back any: of those that ran since it came, the last. */
function replacedRun(connection: Connection, ref: RunRef, { kind, takesBack }: WaitingRow): string | undefined {
  if (takesBack === null || kind === 'hold') return takesBack ?? undefined;
  const before = connection.get<{ id: string }>(
    `select invocation_id as id from agent_runs where session_num = ? and id <> ? and kind <> 'hold'
      and started_at >= (select started_at from agent_runs where id = ?) order by started_at desc, pos desc limit 1`,
    ref.session,
    ref.id,
    rowIdOf(ref.session, takesBack),
  );
  return before?.id ?? takesBack;
}

export interface FinishInput {
  readonly home: string;
  readonly ref: RunRef;
  readonly fence: number | undefined;
  /** Absent: the run is forgotten. */
  readonly end: RunEnd | undefined;
}

/** Gives the run that may begin now, and its home. */
export function finishRun(
  { connection }: WriteContext,
  { home, ref, fence, end }: FinishInput,
): { id: string; home: string | null } | undefined {
  if (fence === undefined) {
    const waits = connection.get(
      `select 1 from agent_runs where id = ? and state = 'queued' and home = ?`,
      ref.id,
      home,
    );
    if (!waits) return undefined;
    connection.run('update sessions set queued = queued - 1 where num = ?', ref.session);
  } else {
    const sql = 'update sessions set queued = queued - 1, owner = null where num = ? and fence = ?';
    if (connection.run(sql, ref.session, fence) === 0) return undefined;
  }
  if (end) {
    const error = end.error ? JSON.stringify(end.error) : null;
    const sql = 'update agent_runs set state = ?, error = ?, input = null, ended_at = ? where id = ?';
    connection.run(sql, end.status, error, Date.now(), ref.id);
  } else {
    connection.run('delete from agent_runs where id = ?', ref.id);
  }
  return connection.get(`select id, home from agent_runs where session_num = ? and ${inLine} limit 1`, ref.session);
}

/** Gives the home of the run, if it is not over. */
export function cancelRun(
  { connection }: WriteContext,
  { ref, reason }: { ref: RunRef; reason: string },
): string | undefined {
  connection.run(`update agent_runs set cancel = coalesce(cancel, ?) where id = ? and ${isOpen}`, reason, ref.id);
  const row = connection.get<{ home: string | null }>(`select home from agent_runs where id = ? and ${isOpen}`, ref.id);
  return row?.home ?? undefined;
}

/** Gives the key of the run in progress. */
export function cancelCurrentRun(
  { connection }: WriteContext,
  { session, reason }: { session: number; reason: string },
): string | undefined {
  const row = connection.get<{ id: string }>(
    `select id from agent_runs where session_num = ? and state = 'running'`,
    session,
  );
  if (row) connection.run('update agent_runs set cancel = coalesce(cancel, ?) where id = ?', reason, row.id);
  return row?.id;
}

export function cancelAllRuns(
  { connection }: WriteContext,
  { session, reason }: { session: number; reason: string },
): void {
  const sql = `update agent_runs set cancel = ? where session_num = ? and kind <> 'hold' and ${isOpen}`;
  connection.run(sql, reason, session);
}

export function forgetRunKey({ connection }: WriteContext, { before, id }: { before: number; id: string }): void {
  connection.run('update agent_runs set idempotency_key = null where id = ? and created_at <= ?', id, before);
}

/**
 * Runs that ended before a time (twice). They are looked for from the first that ever was to the first that came too late:
 * an index would cost every run.
 */
export const endedRuns = `select pos from agent_runs where ${isEnded} and ended_at < ?
  and pos < coalesce((select pos from agent_runs where created_at >= ? order by pos limit 1), 9e15) order by pos`;

/** A run whose end lies outside of two times. */
export const oddRun = `select id, ended_at as time from agent_runs
  where ${isEnded} and (ended_at < ? or ended_at > ?) limit 1`;

/** Gives their number, at most `forgottenAtOnce`. */
export function forgetEndedRuns({ connection }: WriteContext, { beforeMs }: { beforeMs: number }): number {
  const sql = `delete from agent_runs where pos in (${endedRuns} limit ?)`;
  return connection.run(sql, beforeMs, beforeMs, forgottenAtOnce);
}

/** Says that a replica lives. */
export function beatRuns({ connection }: WriteContext, { home }: { home: string }): void {
  tellAlive(connection, home);
}

export interface TakeInput {
  readonly home: string;
  readonly ref: RunRef;
  /** The home the run had. */
  readonly from: string | null;
}

/** Takes over a run; gives the number it owns its session by if it is in progress, and the events it has stored. */
export function takeRun(
  { connection }: WriteContext,
  { home, ref, from }: TakeInput,
): Pick<AdoptedRun, 'fence' | 'steps' | 'attempts'> | undefined {
  const sql = `update agent_runs set home = ?, attempts = attempts + (state = 'running') where id = ? and home is ? and ${isOpen}`;
  if (connection.run(sql, home, ref.id, from) === 0) return undefined;
  const row = connection.get<{ state: string; attempts: number }>(
    'select state, attempts from agent_runs where id = ?',
    ref.id,
  );
  tellAlive(connection, home);
  const fence = row?.state === 'running' ? own(connection, ref.session, home) : undefined;
  return { fence, steps: stepsOf(connection, ref.id), attempts: row?.attempts ?? 0 };
}

export function handBackRuns(
  { connection }: WriteContext,
  { home, ids }: { home: string; ids: readonly string[] },
): void {
  const sql = `update agent_runs set home = null where id = ? and home = ? and ${isOpen}`;
  for (const id of ids) connection.run(sql, id, home);
  connection.run('delete from agent_replicas where alive_until < ?', Date.now() - 600_000);
}

function own(connection: Connection, session: number, home: string): number {
  connection.run('update sessions set owner = ?, fence = fence + 1 where num = ?', home, session);
  return connection.get<{ fence: number }>('select fence from sessions where num = ?', session)?.fence ?? 0;
}

function tellAlive(connection: Connection, home: string): void {
  const sql = 'insert or replace into agent_replicas (id, alive_until) values (?, ?)';
  connection.run(sql, home, Date.now() + leaseMs);
}

const stepsOf = (connection: Connection, id: string): number =>
  connection.get<{ steps: number }>('select coalesce(max(step) + 1, 0) as steps from agent_events where run_id = ?', id)
    ?.steps ?? 0;

/** The secret that is there, or else this one. */
export function keepSecret({ connection }: WriteContext, { value }: { value: string }): string {
  connection.run(`insert or ignore into agent_secrets (name, value) values ('server', ?)`, value);
  return connection.get<{ value: string }>(`select value from agent_secrets where name = 'server'`)?.value ?? value;
}
