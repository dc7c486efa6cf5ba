import { AppError } from '../../base/errors.ts';
import {
  type TakenOverRun,
  type StartedRun,
  leaseMs,
  type NewRun,
  type EnqueuedRun,
  type AdmissionRule,
  ranks,
  type RunEnd,
  type RunRef,
} from '../../core/run-store.ts';
import type { SessionKey } from '../../schemas/session.ts';
import type { Connection } from '../sqlite/connection.ts';
import type { WriteContext } from '../sqlite/dialect.ts';
import { forgottenAtOnce, isEnded, kindColumn, refusal, rowIdOf } from './run-rows.ts';

// The writes of runs in SQLite; the names of the columns: run-rows.ts. They run in the writer thread, within a transaction.

const isOpen = `state in ('queued', 'running')`;
/** The order of a session's runs: the active one, then the highest rank (`front`), then first in, first out. */
const byOrder = `${isOpen} order by state = 'running' desc, front desc, pos`;

interface SessionRow {
  readonly num: number;
  readonly queued: number;
  readonly owner: string | null;
}

const sessionRow = (connection: Connection, { appName, userId, sessionId }: SessionKey): SessionRow | undefined =>
  connection.get(
    'select num, queued, owner from sessions where id = ? and app_name = ? and user_id = ?',
    sessionId,
    appName,
    userId,
  );

export interface EnqueueInput {
  readonly replicaId: string;
  readonly run: NewRun;
  readonly rule: AdmissionRule;
}

export function enqueueRun({ connection }: WriteContext, { replicaId, run, rule }: EnqueueInput): EnqueuedRun {
  const { key, idempotencyKey = null } = run;
  const session = sessionRow(connection, key);
  if (!session || session.queued > rule.maxOpen) throw refusal(key, rule.maxOpen, session !== undefined);
  const asked = `select 1 from agent_runs where session_num = ? and idempotency_key = ?`;
  if (idempotencyKey !== null && connection.get(asked, session.num, idempotencyKey)) {
    throw new AppError('run_exists', 'A run with this Idempotency-Key exists already');
  }
  const id = rowIdOf(session.num, key.runId);
  if (connection.get(`select 1 from agent_runs where id = ? and ${isOpen}`, id)) {
    throw new AppError('session_busy', `Run "${key.runId}" has not ended yet`, { retryAfter: 1 });
  }
  connection.run('delete from agent_runs where id = ?', id);
  const startsNow = session.queued === 0;
  const rollbackOf = run.rollbackOf ?? (run.rollsBackActive ? runBefore(connection, session.num) : undefined);
  const now = Date.now();
  connection.run(
    `insert into agent_runs (id, session_num, invocation_id, home, kind, is_detached, input, idempotency_key,
      fingerprint, state, created_at, started_at, front, takes_back) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    id,
    session.num,
    key.runId,
    replicaId,
    kindColumn(run.kind),
    run.isDetached ? 1 : 0,
    run.input,
    idempotencyKey,
    run.fingerprint ?? null,
    startsNow ? 'running' : 'queued',
    now,
    startsNow ? now : null,
    rule.rank,
    rollbackOf ?? null,
  );
  connection.run('update sessions set queued = queued + 1 where num = ?', session.num);
  const fencingToken = startsNow ? nextFencingToken(connection, session.num, replicaId) : undefined;
  renewLease(connection, replicaId);
  return {
    ref: { session: session.num, id },
    createdAtMs: now,
    startedAtMs: startsNow ? now : undefined,
    fencingToken,
    appendedEvents: run.isNew ? 0 : appendedEventsOf(connection, id),
  };
}

export function tryStartRun(
  { connection }: WriteContext,
  { replicaId, ref }: { replicaId: string; ref: RunRef },
): StartedRun | 'waiting' | 'not_owner' | 'session_deleted' {
  const session = connection.get<SessionRow>('select num, queued, owner from sessions where num = ?', ref.session);
  if (!session) return 'session_deleted';
  const row = connection.get<WaitingRow>(
    'select state, home as ownerId, kind, takes_back as rollbackOf from agent_runs where id = ?',
    ref.id,
  );
  if (row?.state !== 'queued' || row.ownerId !== replicaId) return 'not_owner';
  const head = connection.get<{ id: string }>(
    `select id from agent_runs where session_num = ? and ${byOrder} limit 1`,
    ref.session,
  );
  if (session.owner !== null || head?.id !== ref.id) return 'waiting';
  const rollbackOf = replacedRun(connection, ref, row);
  const begin = `update agent_runs set state = 'running', started_at = ?, takes_back = ? where id = ?`;
  const now = Date.now();
  connection.run(begin, now, rollbackOf ?? null, ref.id);
  const superseding = `select 1 from agent_runs where session_num = ? and state = 'queued' and front = ?`;
  const isSuperseded = connection.get(superseding, ref.session, ranks.preempting) !== undefined;
  return {
    fencingToken: nextFencingToken(connection, ref.session, replicaId),
    startedAtMs: now,
    isSuperseded,
    rollbackOf,
  };
}

interface WaitingRow {
  readonly state: string;
  readonly ownerId: string | null;
  readonly kind: string;
  readonly rollbackOf: string | null;
}

/** The active run, or the one that starts next. */
function runBefore(connection: Connection, session: number): string | undefined {
  const sql = `select invocation_id as id from agent_runs where session_num = ?
    and (state = 'running' or (state = 'queued' and front > 0)) order by state = 'running' desc, front desc, pos limit 1`;
  return connection.get<{ id: string }>(sql, session)?.id;
}

/** The run that a rollback run has to roll back: the last that ran since it was enqueued. */
function replacedRun(connection: Connection, ref: RunRef, { kind, rollbackOf }: WaitingRow): string | undefined {
  if (rollbackOf === null || kind === 'hold') return rollbackOf ?? undefined;
  const before = connection.get<{ id: string }>(
    `select invocation_id as id from agent_runs where session_num = ? and id <> ? and kind <> 'hold'
      and started_at >= (select started_at from agent_runs where id = ?) order by started_at desc, pos desc limit 1`,
    ref.session,
    ref.id,
    rowIdOf(ref.session, rollbackOf),
  );
  return before?.id ?? rollbackOf;
}

export interface FinishInput {
  readonly replicaId: string;
  readonly ref: RunRef;
  readonly fencingToken: number | undefined;
  /** Absent: the run is forgotten. */
  readonly end: RunEnd | undefined;
}

/** Returns the run that may start now, and its owner. */
export function finishRun(
  { connection }: WriteContext,
  { replicaId, ref, fencingToken, end }: FinishInput,
): { id: string; ownerId: string | null } | undefined {
  if (fencingToken === undefined) {
    const waits = connection.get(
      `select 1 from agent_runs where id = ? and state = 'queued' and home = ?`,
      ref.id,
      replicaId,
    );
    if (!waits) return undefined;
    connection.run('update sessions set queued = queued - 1 where num = ?', ref.session);
  } else {
    const sql = 'update sessions set queued = queued - 1, owner = null where num = ? and fence = ?';
    if (connection.run(sql, ref.session, fencingToken) === 0) return undefined;
  }
  if (end) {
    const error = end.error ? JSON.stringify(end.error) : null;
    const sql = 'update agent_runs set state = ?, error = ?, input = null, ended_at = ? where id = ?';
    connection.run(sql, end.status, error, Date.now(), ref.id);
  } else {
    connection.run('delete from agent_runs where id = ?', ref.id);
  }
  return connection.get(
    `select id, home as ownerId from agent_runs where session_num = ? and ${byOrder} limit 1`,
    ref.session,
  );
}

/** Returns the owner of the run, if the run has not ended. */
export function cancelRun(
  { connection }: WriteContext,
  { ref, reason }: { ref: RunRef; reason: string },
): string | undefined {
  connection.run(`update agent_runs set cancel = coalesce(cancel, ?) where id = ? and ${isOpen}`, reason, ref.id);
  const row = connection.get<{ ownerId: string | null }>(
    `select home as ownerId from agent_runs where id = ? and ${isOpen}`,
    ref.id,
  );
  return row?.ownerId ?? undefined;
}

/** Returns the key of the active run. */
export function cancelActiveRun(
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

export function forgetIdempotencyKey(
  { connection }: WriteContext,
  { before, id }: { before: number; id: string },
): void {
  connection.run('update agent_runs set idempotency_key = null where id = ? and created_at <= ?', id, before);
}

/**
 * Runs that ended before a time (passed twice). Scans from the oldest run to the first that is too new, because an index
 * would slow down every run.
 */
export const endedRuns = `select pos from agent_runs where ${isEnded} and ended_at < ?
  and pos < coalesce((select pos from agent_runs where created_at >= ? order by pos limit 1), 9e15) order by pos`;

/** A run whose end is outside a range. */
export const oddRun = `select id, ended_at as time from agent_runs
  where ${isEnded} and (ended_at < ? or ended_at > ?) limit 1`;

/** Returns their number, at most `forgottenAtOnce`. */
export function forgetEndedRuns({ connection }: WriteContext, { beforeMs }: { beforeMs: number }): number {
  const sql = `delete from agent_runs where pos in (${endedRuns} limit ?)`;
  return connection.run(sql, beforeMs, beforeMs, forgottenAtOnce);
}

export function storeHeartbeat({ connection }: WriteContext, { replicaId }: { replicaId: string }): void {
  renewLease(connection, replicaId);
}

export interface TakeOverInput {
  readonly replicaId: string;
  readonly ref: RunRef;
  /** The owner the run had. */
  readonly ownerId: string | null;
}

/** Takes over a run. Returns the fencing token if the run is active, and the number of its stored events. */
export function takeOverRun(
  { connection }: WriteContext,
  { replicaId, ref, ownerId }: TakeOverInput,
): Pick<TakenOverRun, 'fencingToken' | 'appendedEvents' | 'takeovers'> | undefined {
  const sql = `update agent_runs set home = ?, attempts = attempts + (state = 'running') where id = ? and home is ? and ${isOpen}`;
  if (connection.run(sql, replicaId, ref.id, ownerId) === 0) return undefined;
  const row = connection.get<{ state: string; takeovers: number }>(
    'select state, attempts as takeovers from agent_runs where id = ?',
    ref.id,
  );
  renewLease(connection, replicaId);
  const fencingToken = row?.state === 'running' ? nextFencingToken(connection, ref.session, replicaId) : undefined;
  return { fencingToken, appendedEvents: appendedEventsOf(connection, ref.id), takeovers: row?.takeovers ?? 0 };
}

export function releaseRuns(
  { connection }: WriteContext,
  { replicaId, ids }: { replicaId: string; ids: readonly string[] },
): void {
  const sql = `update agent_runs set home = null where id = ? and home = ? and ${isOpen}`;
  for (const id of ids) connection.run(sql, id, replicaId);
  connection.run('delete from agent_replicas where alive_until < ?', Date.now() - 600_000);
}

function nextFencingToken(connection: Connection, session: number, replicaId: string): number {
  connection.run('update sessions set owner = ?, fence = fence + 1 where num = ?', replicaId, session);
  return (
    connection.get<{ fencingToken: number }>('select fence as fencingToken from sessions where num = ?', session)
      ?.fencingToken ?? 0
  );
}

function renewLease(connection: Connection, replicaId: string): void {
  const sql = 'insert or replace into agent_replicas (id, alive_until) values (?, ?)';
  connection.run(sql, replicaId, Date.now() + leaseMs);
}

const appendedEventsOf = (connection: Connection, id: string): number =>
  connection.get<{ appendedEvents: number }>(
    'select coalesce(max(step) + 1, 0) as appendedEvents from agent_events where run_id = ?',
    id,
  )?.appendedEvents ?? 0;

/** The stored secret; stores this one if there is none. */
export function keepSecret({ connection }: WriteContext, { value }: { value: string }): string {
  connection.run(`insert or ignore into agent_secrets (name, value) values ('server', ?)`, value);
  return connection.get<{ value: string }>(`select value from agent_secrets where name = 'server'`)?.value ?? value;
}
