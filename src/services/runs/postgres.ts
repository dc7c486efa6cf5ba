import { randomUUID } from 'node:crypto';
import { AppError } from '../../base/errors.ts';
import {
  type TakenOverRun,
  takeOverBatch,
  type StartedRun,
  type CancelRequest,
  leaseMs,
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
import type { PostgresDatabase, Queryable } from '../postgres/database.ts';
import { isConflict, sqlStateOf } from '../postgres/errors.ts';
import * as sql from './postgres-statements.ts';
import { type MessageListener, ReplicaConnection } from './replica-connection.ts';
import { forgottenAtOnce, kindColumn, kindOf, newSecret, refusal, type RunRow, storedRun } from './run-rows.ts';

const uniqueViolation = '23505';
/** Attempts of a statement that the database rolls back because of concurrent ones. */
const maxAttempts = 5;
/** How long a replica may take to reconnect before it counts as dead. */
const reconnectMs = 2_000;
/** The database's limit for messages, with some margin. */
const maxMessageBytes = 7_900;

/** Stores runs in PostgreSQL, for any number of replicas. */
export class PostgresRuns implements RunStore {
  readonly replicaId = randomUUID();
  readonly #database: PostgresDatabase;
  #listener: MessageListener = { onMessage: () => {}, onDisconnect: () => {} };
  /** Created at the first heartbeat. */
  #connection: ReplicaConnection | undefined;

  constructor(database: PostgresDatabase) {
    this.#database = database;
  }

  async enqueue(run: NewRun, { maxOpen, rank }: AdmissionRule): Promise<EnqueuedRun> {
    const { key, kind, isDetached, input, idempotencyKey = null, fingerprint = null } = run;
    const values = [
      key.appName,
      key.userId,
      key.sessionId,
      this.replicaId,
      key.runId,
      kindColumn(kind),
      isDetached,
      input,
      idempotencyKey,
      fingerprint,
      maxOpen,
      rank,
      run.rollbackOf ?? null,
      run.rollsBackActive ?? false,
    ];
    const query = { name: 'agent-run-enter', text: sql.enqueueStatement, values };
    try {
      const row = run.isNew
        ? (await this.#query<sql.EnqueuedRow>(query))[0]
        : await this.#database.transaction((client) => enqueueAgain(client, query, key));
      if (!row) throw await this.#refusal(key, maxOpen);
      const ref = { session: row.sessionNumber, id: row.rowId };
      const appendedEvents = run.isNew ? 0 : await this.#appendedEvents(ref);
      const { createdAtMs, startedAtMs } = row;
      const fencingToken = row.state === 'running' ? row.fencingToken : undefined;
      return { ref, createdAtMs, startedAtMs: startedAtMs ?? undefined, fencingToken, appendedEvents };
    } catch (error) {
      if (sqlStateOf(error) !== uniqueViolation) throw error;
      throw new AppError('run_exists', 'A run with this Idempotency-Key exists already', { cause: error });
    }
  }

  async tryStart({ session, id }: RunRef): Promise<StartedRun | 'waiting' | 'not_owner' | 'session_deleted'> {
    const values = [session, id, this.replicaId];
    const [row] = await this.#query<sql.StartResult>({
      name: 'agent-run-begin',
      text: sql.tryStartStatement,
      values,
    });
    if (!row?.isThere) return 'session_deleted';
    const { fencingToken, isSuperseded, rollbackOf, waits } = row;
    const startedAtMs = row.startedAtMs ?? Date.now();
    if (fencingToken !== null) return { fencingToken, startedAtMs, isSuperseded, rollbackOf: rollbackOf ?? undefined };
    return waits ? 'waiting' : 'not_owner';
  }

  async finish({ session, id }: RunRef, fencingToken: number | undefined, ended: RunEnd | undefined): Promise<void> {
    const end = [ended?.status ?? null, ended?.error ? JSON.stringify(ended.error) : null];
    if (fencingToken === undefined) {
      const values = [session, id, this.replicaId, ...end];
      await this.#query({ name: 'agent-run-leave', text: sql.leaveStatement, values });
      return;
    }
    const values = [session, id, fencingToken, ...end];
    const [next] = await this.#query<{ id: string; ownerId: string | null }>({
      name: 'agent-run-finish',
      text: sql.finishStatement,
      values,
    });
    if (next?.ownerId) await this.send(next.ownerId, JSON.stringify({ type: 'go', id: next.id }));
  }

  async cancel({ id }: RunRef, reason: string): Promise<string | undefined> {
    const [row] = await this.#query<{ ownerId: string | null }>({
      name: 'agent-run-cancel',
      text: sql.cancelStatement,
      values: [id, reason, this.replicaId],
    });
    return row?.ownerId ?? undefined;
  }

  async cancelActive(session: number, reason: string): Promise<(StoredRun & { ownerId: string }) | undefined> {
    const [row] = await this.#query<RunRow>({
      name: 'agent-run-cancel-current',
      text: sql.cancelActiveStatement,
      values: [session, reason, this.replicaId],
    });
    return row && { ...storedRun(row), ownerId: row.ownerId ?? '' };
  }

  async secret(): Promise<string> {
    const value = newSecret();
    const text = `with made as (
        insert into agent_secrets (name, value) values ('server', $1) on conflict do nothing returning value)
      select value from made union all select value from agent_secrets where name = 'server'`;
    const found = await this.#query<{ value: string }>({ name: 'agent-secret', text, values: [value] });
    // Another replica created one at the same time.
    return found[0]?.value ?? (await this.secret());
  }

  async cancelAll(session: number, reason: string): Promise<void> {
    const values = [session, reason, this.replicaId];
    await this.#query({ name: 'agent-run-cancel-all', text: sql.cancelAllStatement, values });
  }

  async find({ appName, userId, sessionId, runId }: RunKey): Promise<StoredRun | undefined> {
    return this.#one({ name: 'agent-run-find', text: sql.findStatement, values: [appName, userId, sessionId, runId] });
  }

  async findByIdempotencyKey(
    { appName, userId, sessionId }: SessionKey,
    idempotencyKey: string,
  ): Promise<StoredRun | undefined> {
    const values = [appName, userId, sessionId, idempotencyKey];
    const known = await this.#one({ name: 'agent-run-asked', text: sql.findByKeyStatement, values });
    if (!known) await this.#query({ name: 'agent-run-forget-key', text: sql.forgetKeyStatement, values });
    return known;
  }

  async list({ appName, userId, sessionId }: SessionKey, limit: number): Promise<StoredRun[]> {
    const values = [appName, userId, sessionId, limit];
    const rows = await this.#query<RunRow>({ name: 'agent-run-list', text: sql.listStatement, values });
    return rows.map(storedRun);
  }

  async collectGarbage(beforeMs: number, { signal, isTrial }: CollectOptions): Promise<number> {
    const count = async (text: string): Promise<number> =>
      (await this.#query<{ count: number }>({ text, values: [beforeMs] }))[0]?.count ?? 0;
    const { earliestMs, latestMs } = plausibleTimes();
    const values = [earliestMs, latestMs];
    const [odd] = await this.#query<{ id: string; time: string }>({ text: sql.oddRunStatement, values });
    if (odd) throw implausibleTime(`Run "${odd.id}"`, 'agent_runs.ended_at', odd.time);
    if (isTrial) return count(sql.countEndedStatement);
    return inBatches(forgottenAtOnce, signal, () => count(sql.forgetEndedStatement));
  }

  async heartbeat(): Promise<CancelRequest[]> {
    const query = { name: 'agent-beat', text: sql.heartbeatStatement, values: [this.replicaId, leaseMs] };
    this.#connection ??= new ReplicaConnection(this.#database, channelOf(this.replicaId), this.#listener);
    const flags = await this.#connection.query<{ rowId: string; sessionNumber: number; cancel: string }>(query);
    return flags.map(({ rowId, sessionNumber, cancel }) => ({
      ref: { session: sessionNumber, id: rowId },
      reason: cancel,
    }));
  }

  async takeOver(known: () => readonly string[], mayJudge: boolean): Promise<TakenOverRun[]> {
    const candidates = await this.#query<sql.LostRunRow>({
      name: 'agent-run-orphans',
      text: sql.lostRunsStatement,
      values: [this.replicaId, known(), mayJudge, leaseMs, reconnectMs, takeOverBatch],
    });
    const stillKnown = new Set(known());
    const lost = candidates.filter(({ ownerId, runId }) => ownerId !== this.replicaId || !stillKnown.has(runId));
    const taken = await Promise.allSettled(
      lost.map(({ rowId, sessionNumber, ownerId }) => this.#takeOver({ session: sessionNumber, id: rowId }, ownerId)),
    );
    const adopted = taken.flatMap((one) => (one.status === 'fulfilled' && one.value ? one.value : []));
    const failed = taken.find((one) => one.status === 'rejected');
    if (failed && adopted.length === 0) throw failed.reason; // otherwise the next call tries the failed ones again
    return adopted;
  }

  async release(refs: readonly RunRef[]): Promise<void> {
    await this.#query({ text: sql.releaseStatement, values: [this.replicaId, refs.map(({ id }) => id)] });
  }

  /** A separate statement, because transactions with a NOTIFY wait for each other. */
  async send(replicaId: string, message: string): Promise<void> {
    if (replicaId === this.replicaId) return this.#listener.onMessage(message);
    if (Buffer.byteLength(message) > maxMessageBytes) return;
    await this.#query({
      name: 'agent-notify',
      text: 'select pg_notify($1, $2)',
      values: [channelOf(replicaId), message],
    });
  }

  listen(onMessage: (message: string) => void, onDisconnect: () => void): void {
    this.#listener = { onMessage, onDisconnect };
  }

  async close(): Promise<void> {
    if (!this.#connection) return;
    this.#connection.close();
    this.#connection = undefined;
    // On failure, the replica counts as dead after its lease.
    await this.#query({ text: sql.forgetReplicaStatement, values: [this.replicaId] }).catch(() => {});
  }

  #takeOver(ref: RunRef, ownerId: string | null): Promise<TakenOverRun | undefined> {
    return this.#retried(() =>
      this.#database.transaction(async (client) => {
        await client.query({ text: sql.lockStatement, values: [ref.session] });
        const { rows } = await client.query<sql.TakenOverRow>({
          text: sql.takeOverStatement,
          values: [ref.id, ownerId, this.replicaId],
        });
        const [taken] = rows;
        if (!taken) return undefined;
        const fencingToken =
          taken.state === 'running'
            ? await client.query<{ fencingToken: number }>({
                text: sql.nextFencingTokenStatement,
                values: [ref.session, this.replicaId],
              })
            : undefined;
        const appendedEvents = await client.query<{ appendedEvents: number }>({
          text: sql.appendedEventsStatement,
          values: [ref.id],
        });
        const { appName, userId, sessionId, runId, kind, isDetached, input, takeovers, cancel, rollbackOf } = taken;
        return {
          ref,
          key: { appName, userId, sessionId, runId },
          kind: kindOf(kind),
          isDetached,
          input,
          takeovers,
          cancel: cancel ?? undefined,
          rollbackOf: rollbackOf ?? undefined,
          fencingToken: fencingToken?.rows[0]?.fencingToken,
          appendedEvents: appendedEvents.rows[0]?.appendedEvents ?? 0,
          wasOwnedHere: ownerId === this.replicaId,
        };
      }),
    );
  }

  async #appendedEvents({ id }: RunRef): Promise<number> {
    const query = { name: 'agent-run-steps', text: sql.appendedEventsStatement, values: [id] };
    return (await this.#query<{ appendedEvents: number }>(query))[0]?.appendedEvents ?? 0;
  }

  /** Why a run was not admitted. */
  async #refusal({ appName, userId, sessionId }: SessionKey, maxOpen: number): Promise<AppError> {
    const [row] = await this.#query({ text: sql.openStatement, values: [appName, userId, sessionId] });
    return refusal({ appName, userId, sessionId }, maxOpen, row !== undefined);
  }

  async #one(query: { name: string; text: string; values: unknown[] }): Promise<StoredRun | undefined> {
    const [row] = await this.#query<RunRow>(query);
    return row && storedRun(row);
  }

  #query<Row extends object>(query: { name?: string; text: string; values: unknown[] }): Promise<Row[]> {
    return this.#retried(() => this.#database.query<Row>(query));
  }

  async #retried<T>(work: () => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await work();
      } catch (error) {
        if (attempt === maxAttempts || !isConflict(error)) throw error;
      }
    }
  }
}

/** Enqueues a run that exists already. An open run must not be counted again, so a failed attempt has to leave no trace. */
async function enqueueAgain(
  client: Queryable,
  query: { text: string; values: unknown[] },
  key: RunKey,
): Promise<sql.EnqueuedRow | undefined> {
  const { rows } = await client.query<sql.EnqueuedRow>(query);
  if (rows[0]) return rows[0];
  const { rows: open } = await client.query({
    text: `${sql.findStatement} and r.state in ('queued', 'running')`,
    values: [key.appName, key.userId, key.sessionId, key.runId],
  });
  if (open.length === 0) return undefined;
  throw new AppError('session_busy', `Run "${key.runId}" has not ended yet`, { retryAfter: 1 });
}

const channelOf = (replicaId: string): string => `agent-${replicaId}`;
