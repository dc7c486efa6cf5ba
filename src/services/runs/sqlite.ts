import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import {
  keyLifetimeMs,
  type TakenOverRun,
  type StartedRun,
  type CancelRequest,
  type NewRun,
  type EnqueuedRun,
  type AdmissionRule,
  type RunEnd,
  type RunRef,
  type RunStore,
  type StoredRun,
} from '../../core/run-store.ts';
import type { RunKey } from '../../core/runs.ts';
import type { CollectOptions } from '../../core/services.ts';
import type { SessionKey } from '../../schemas/session.ts';
import { inBatches } from '../in-batches.ts';
import { plausibleTimes, implausibleTime } from '../plausible-time.ts';
import type { Connection } from '../sqlite/connection.ts';
import type { SqliteDatabase } from '../sqlite/database.ts';
import { forgottenAtOnce, kindOf, newSecret, type RunRow, storedRun } from './run-rows.ts';
import { endedRuns, oddRun } from './sqlite-writes.ts';

const columns = `r.id as rowId, r.session_num as sessionNumber, r.invocation_id as runId, s.app_name as appName,
  s.user_id as userId, s.id as sessionId, r.state, r.error, r.home as ownerId, r.fingerprint, r.created_at / 1000.0 as createdAt,
  r.started_at / 1000.0 as startedAt, r.ended_at / 1000.0 as endedAt`;
const ofSession = `from sessions s join agent_runs r on r.session_num = s.num
  where s.id = ? and s.app_name = ? and s.user_id = ?`;

/**
 * Stores runs in SQLite, for one server at a time, and its successor after a crash. A server writes heartbeats only while
 * it has runs, so an idle one does not use the disk.
 */
export class SqliteRuns implements RunStore {
  readonly replicaId = `${hostname()} ${process.pid} ${randomUUID()}`;
  readonly #database: SqliteDatabase;
  readonly #open = new Set<string>();
  #onMessage: (message: string) => void = () => {};

  constructor(database: SqliteDatabase) {
    this.#database = database;
  }

  async enqueue(run: NewRun, rule: AdmissionRule): Promise<EnqueuedRun> {
    const placed = await this.#database.write('enqueueRun', { replicaId: this.replicaId, run, rule });
    this.#open.add(placed.ref.id);
    return placed;
  }

  tryStart(ref: RunRef): Promise<StartedRun | 'waiting' | 'not_owner' | 'session_deleted'> {
    return this.#database.write('tryStartRun', { replicaId: this.replicaId, ref });
  }

  async finish(ref: RunRef, fencingToken: number | undefined, end: RunEnd | undefined): Promise<void> {
    const next = await this.#database.write('finishRun', { replicaId: this.replicaId, ref, fencingToken, end });
    this.#open.delete(ref.id);
    if (next?.ownerId) await this.send(next.ownerId, JSON.stringify({ type: 'go', id: next.id }));
  }

  cancel(ref: RunRef, reason: string): Promise<string | undefined> {
    return this.#database.write('cancelRun', { ref, reason });
  }

  async cancelActive(session: number, reason: string): Promise<(StoredRun & { ownerId: string }) | undefined> {
    const id = await this.#database.write('cancelActiveRun', { session, reason });
    const sql = `select ${columns} from agent_runs r join sessions s on s.num = r.session_num where r.id = ?`;
    const row = id === undefined ? undefined : await this.#read((connection) => connection.get<RunRow>(sql, id));
    return row && { ...storedRun(row), ownerId: row.ownerId ?? '' };
  }

  secret(): Promise<string> {
    return this.#database.write('keepSecret', { value: newSecret() });
  }

  cancelAll(session: number, reason: string): Promise<void> {
    return this.#database.write('cancelAllRuns', { session, reason });
  }

  async find({ appName, userId, sessionId, runId }: RunKey): Promise<StoredRun | undefined> {
    const sql = `select ${columns} ${ofSession} and r.invocation_id = ? and r.kind <> 'hold'`;
    const row = await this.#read((connection) => connection.get<RunRow>(sql, sessionId, appName, userId, runId));
    return row && storedRun(row);
  }

  async findByIdempotencyKey(
    { appName, userId, sessionId }: SessionKey,
    idempotencyKey: string,
  ): Promise<StoredRun | undefined> {
    const sql = `select ${columns} ${ofSession} and r.idempotency_key = ?`;
    const row = await this.#read((one) => one.get<RunRow>(sql, sessionId, appName, userId, idempotencyKey));
    if (!row) return undefined;
    const before = Date.now() - keyLifetimeMs;
    if (row.createdAt * 1000 > before) return storedRun(row);
    await this.#database.write('forgetIdempotencyKey', { before, id: row.rowId });
    return undefined;
  }

  async list({ appName, userId, sessionId }: SessionKey, limit: number): Promise<StoredRun[]> {
    const sql = `select ${columns} ${ofSession} and r.kind <> 'hold' order by r.pos desc limit ?`;
    const rows = await this.#read((connection) => connection.all<RunRow>(sql, sessionId, appName, userId, limit));
    return rows.map(storedRun);
  }

  async collectGarbage(beforeMs: number, { signal, isTrial }: CollectOptions): Promise<number> {
    const { earliestMs, latestMs } = plausibleTimes();
    const odd = await this.#read((one) => one.get<{ id: string; time: unknown }>(oddRun, earliestMs, latestMs));
    if (odd) throw implausibleTime(`Run "${odd.id}"`, 'agent_runs.ended_at', odd.time);
    if (isTrial) {
      const sql = `select count(*) as count from (${endedRuns})`;
      const row = await this.#read((one) => one.get<{ count: number }>(sql, beforeMs, beforeMs));
      return row?.count ?? 0;
    }
    return inBatches(forgottenAtOnce, signal, () => this.#database.write('forgetEndedRuns', { beforeMs }));
  }

  async heartbeat(): Promise<CancelRequest[]> {
    if (this.#open.size === 0) return [];
    await this.#database.write('storeHeartbeat', { replicaId: this.replicaId });
    const sql = `select id, session_num as session, cancel as reason from agent_runs
      where home = ? and cancel is not null and state in ('queued', 'running')`;
    const flags = await this.#read((one) => one.all<RunRef & { reason: string }>(sql, this.replicaId));
    return flags.map(({ id, session, reason }) => ({ ref: { id, session }, reason }));
  }

  /** A living server always reaches its file, so an expired lease is proof enough that it died. */
  async takeOver(known: () => readonly string[]): Promise<TakenOverRun[]> {
    const sql = `select r.id, r.session_num as session, r.invocation_id as runId, r.home as ownerId, r.kind,
        r.is_detached as isDetached, r.input, r.cancel, r.takes_back as rollbackOf, s.app_name as appName, s.user_id as userId,
        s.id as sessionId, exists (select 1 from agent_replicas a where a.id = r.home and a.alive_until > ?) as isAlive
      from agent_runs r join sessions s on s.num = r.session_num
      where r.state in ('queued', 'running') order by r.pos`;
    const rows = await this.#read((connection) => connection.all<OpenRow>(sql, Date.now()));
    const stillKnown = new Set(known());
    const adopted: TakenOverRun[] = [];
    for (const row of rows) {
      const wasOwnedHere = row.ownerId === this.replicaId;
      const isOrphan = wasOwnedHere ? !stillKnown.has(row.runId) : row.isAlive === 0 || hasEnded(row.ownerId);
      const run = isOrphan ? await this.#takeOver(row) : undefined;
      if (run) adopted.push(run);
    }
    return adopted;
  }

  async release(refs: readonly RunRef[]): Promise<void> {
    const ids = refs.map(({ id }) => id);
    await this.#database.write('releaseRuns', { replicaId: this.replicaId, ids });
    for (const id of ids) this.#open.delete(id);
  }

  /** The only receiver is this replica. */
  async send(replicaId: string, message: string): Promise<void> {
    if (replicaId === this.replicaId) this.#onMessage(message);
  }

  listen(onMessage: (message: string) => void): void {
    this.#onMessage = onMessage;
  }

  async close(): Promise<void> {
    // The services close the database.
  }

  async #takeOver(row: OpenRow): Promise<TakenOverRun | undefined> {
    const { id, session, ownerId, appName, userId, sessionId, runId } = row;
    const ref = { id, session };
    const taken = await this.#database.write('takeOverRun', { replicaId: this.replicaId, ref, ownerId: ownerId });
    if (!taken) return undefined;
    this.#open.add(id);
    return {
      ref,
      key: { appName, userId, sessionId, runId },
      kind: kindOf(row.kind),
      isDetached: row.isDetached === 1,
      input: row.input,
      cancel: row.cancel ?? undefined,
      rollbackOf: row.rollbackOf ?? undefined,
      wasOwnedHere: ownerId === this.replicaId,
      ...taken,
    };
  }

  #read<T>(work: (connection: Connection) => T): Promise<T> {
    return this.#database.read(work);
  }
}

interface OpenRow extends RunRef, RunKey {
  readonly ownerId: string | null;
  readonly kind: string;
  readonly isDetached: number;
  readonly input: string;
  readonly cancel: string | null;
  readonly rollbackOf: string | null;
  readonly isAlive: number;
}

/** Whether the replica was a process of this machine that has ended: then its lease need not expire first. */
function hasEnded(replicaId: string | null): boolean {
  const [host, pid] = replicaId?.split(' ') ?? [];
  if (host !== hostname()) return false;
  if (Number(pid) === process.pid) return true; // an earlier process had the same id
  try {
    process.kill(Number(pid), 0);
    return false;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'ESRCH';
  }
}
