import { AppError } from '../../base/errors.ts';
import { newId } from '../../base/ids.ts';
import {
  type AdoptedRun,
  adoptedAtOnce,
  type Begun,
  type CancelFlag,
  leaseMs,
  type NewRun,
  type Placed,
  type Placing,
  type RunEnd,
  type RunRef,
  type RunStore,
  type StoredRun,
} from '../../core/run-store.ts';
import type { RunKey } from '../../core/runs.ts';
import type { CollectOptions } from '../../core/services.ts';
import type { SessionKey } from '../../schemas/session.ts';
import { credibleTimes, incredible } from '../credible-time.ts';
import { inBatches } from '../in-batches.ts';
import type { PostgresDatabase, Queryable } from '../postgres/database.ts';
import { isConflict, sqlStateOf } from '../postgres/errors.ts';
import { type LinkListener, PostgresLink } from './postgres-link.ts';
import * as sql from './postgres-statements.ts';
import { forgottenAtOnce, newSecret, refusal, type RunRow, storedRun } from './run-rows.ts';

const uniqueViolation = '23505';
/** How often a statement is tried that the database stopped to let others go on. */
const maxAttempts = 5;
/** How long a replica that has lost its connection may take to make another, until it counts as dead. */
const quietMs = 2_000;
/** The longest message the database passes on, with some room. */
const maxMessageBytes = 7_900;

/** Keeps runs in PostgreSQL, for any number of replicas. */
export class PostgresRuns implements RunStore {
  readonly home = newId();
  readonly #database: PostgresDatabase;
  #listener: LinkListener = { onMessage: () => {}, onBreak: () => {} };
  /** Made at the first sign of life. */
  #link: PostgresLink | undefined;

  constructor(database: PostgresDatabase) {
    this.#database = database;
  }

  async enter(run: NewRun, { maxOpen, rank }: Placing): Promise<Placed> {
    const { key, kind, isDetached, input, idempotencyKey = null, fingerprint = null } = run;
    const values = [
      key.appName,
      key.userId,
      key.sessionId,
      this.home,
      key.runId,
      kind,
      isDetached,
      input,
      idempotencyKey,
      fingerprint,
      maxOpen,
      rank,
      run.takesBack ?? null,
      run.takesBackCurrent ?? false,
    ];
    const query = { name: 'agent-run-enter', text: sql.enterStatement, values };
    try {
      const row = run.isNew
        ? (await this.#query<sql.Entered>(query))[0]
        : await this.#database.transaction((client) => enterAgain(client, query, key));
      if (!row) throw await this.#refusal(key, maxOpen);
      const ref = { session: row.sessionNumber, id: row.rowId };
      const steps = run.isNew ? 0 : await this.#steps(ref);
      const { createdAtMs, startedAtMs } = row;
      const fence = row.state === 'running' ? row.fence : undefined;
      return { ref, createdAtMs, startedAtMs: startedAtMs ?? undefined, fence, steps };
    } catch (error) {
      if (sqlStateOf(error) !== uniqueViolation) throw error;
      throw new AppError('run_exists', 'There is a run of this Idempotency-Key already', { cause: error });
    }
  }

  async begin({ session, id }: RunRef): Promise<Begun | 'waits' | 'gone' | 'deleted'> {
    const values = [session, id, this.home];
    const [row] = await this.#query<sql.MayBegin>({
      name: 'agent-run-begin',
      text: sql.beginStatement,
      values,
    });
    if (!row?.isThere) return 'deleted';
    const { fence, isSuperseded, takesBack, waits } = row;
    const startedAtMs = row.startedAtMs ?? Date.now();
    if (fence !== null) return { fence, startedAtMs, isSuperseded, takesBack: takesBack ?? undefined };
    return waits ? 'waits' : 'gone';
  }

  async finish({ session, id }: RunRef, fence: number | undefined, ended: RunEnd | undefined): Promise<void> {
    const end = [ended?.status ?? null, ended?.error ? JSON.stringify(ended.error) : null];
    if (fence === undefined) {
      const values = [session, id, this.home, ...end];
      await this.#query({ name: 'agent-run-leave', text: sql.leaveStatement, values });
      return;
    }
    const values = [session, id, fence, ...end];
    const [next] = await this.#query<{ id: string; home: string | null }>({
      name: 'agent-run-finish',
      text: sql.finishStatement,
      values,
    });
    if (next?.home) await this.send(next.home, JSON.stringify({ type: 'go', id: next.id }));
  }

  async cancel({ id }: RunRef, reason: string): Promise<string | undefined> {
    const [row] = await this.#query<{ home: string | null }>({
      name: 'agent-run-cancel',
      text: sql.cancelStatement,
      values: [id, reason, this.home],
    });
    return row?.home ?? undefined;
  }

  async cancelCurrent(session: number, reason: string): Promise<(StoredRun & { home: string }) | undefined> {
    const [row] = await this.#query<RunRow>({
      name: 'agent-run-cancel-current',
      text: sql.cancelCurrentStatement,
      values: [session, reason, this.home],
    });
    return row && { ...storedRun(row), home: row.home ?? '' };
  }

  async secret(): Promise<string> {
    const value = newSecret();
    const text = `with made as (
        insert into agent_secrets (name, value) values ('server', $1) on conflict do nothing returning value)
      select value from made union all select value from agent_secrets where name = 'server'`;
    const found = await this.#query<{ value: string }>({ name: 'agent-secret', text, values: [value] });
    // Somebody else made one in the same moment.
    return found[0]?.value ?? (await this.secret());
  }

  async cancelAll(session: number, reason: string): Promise<void> {
    const values = [session, reason, this.home];
    await this.#query({ name: 'agent-run-cancel-all', text: sql.cancelAllStatement, values });
  }

  async find({ appName, userId, sessionId, runId }: RunKey): Promise<StoredRun | undefined> {
    return this.#one({ name: 'agent-run-find', text: sql.findStatement, values: [appName, userId, sessionId, runId] });
  }

  async asked({ appName, userId, sessionId }: SessionKey, idempotencyKey: string): Promise<StoredRun | undefined> {
    const values = [appName, userId, sessionId, idempotencyKey];
    const known = await this.#one({ name: 'agent-run-asked', text: sql.askedStatement, values });
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
    const { earliestMs, latestMs } = credibleTimes();
    const values = [earliestMs, latestMs];
    const [odd] = await this.#query<{ id: string; time: string }>({ text: sql.oddRunStatement, values });
    if (odd) throw incredible(`Run "${odd.id}"`, 'agent_runs.ended_at', odd.time);
    if (isTrial) return count(sql.countEndedStatement);
    return inBatches(forgottenAtOnce, signal, () => count(sql.forgetEndedStatement));
  }

  async beat(): Promise<CancelFlag[]> {
    const query = { name: 'agent-beat', text: sql.beatStatement, values: [this.home, leaseMs] };
    this.#link ??= new PostgresLink(this.#database, channelOf(this.home), this.#listener);
    const flags = await this.#link.query<{ rowId: string; sessionNumber: number; cancel: string }>(query);
    return flags.map(({ rowId, sessionNumber, cancel }) => ({
      ref: { session: sessionNumber, id: rowId },
      reason: cancel,
    }));
  }

  async adopt(known: () => readonly string[], mayJudge: boolean): Promise<AdoptedRun[]> {
    const orphans = await this.#query<sql.Orphan>({
      name: 'agent-run-orphans',
      text: sql.orphansStatement,
      values: [this.home, known(), mayJudge, leaseMs, quietMs, adoptedAtOnce],
    });
    const stillKnown = new Set(known());
    const lost = orphans.filter(({ home, runId }) => home !== this.home || !stillKnown.has(runId));
    const taken = await Promise.allSettled(
      lost.map(({ rowId, sessionNumber, home }) => this.#adopt({ session: sessionNumber, id: rowId }, home)),
    );
    const adopted = taken.flatMap((one) => (one.status === 'fulfilled' && one.value ? one.value : []));
    const failed = taken.find((one) => one.status === 'rejected');
    if (failed && adopted.length === 0) throw failed.reason; // else the others are looked for again
    return adopted;
  }

  async handBack(refs: readonly RunRef[]): Promise<void> {
    await this.#query({ text: sql.handBackStatement, values: [this.home, refs.map(({ id }) => id)] });
  }

  /** Not in the transaction of anything else: a NOTIFY makes all transactions that have one wait for each other. */
  async send(home: string, message: string): Promise<void> {
    if (home === this.home) return this.#listener.onMessage(message);
    if (Buffer.byteLength(message) > maxMessageBytes) return;
    await this.#query({ name: 'agent-notify', text: 'select pg_notify($1, $2)', values: [channelOf(home), message] });
  }

  listen(onMessage: (message: string) => void, onBreak: () => void): void {
    this.#listener = { onMessage, onBreak };
  }

  async close(): Promise<void> {
    if (!this.#link) return;
    this.#link.close();
    this.#link = undefined;
    // Else it counts as lost after a while.
    await this.#query({ text: sql.goneStatement, values: [this.home] }).catch(() => {});
  }

  #adopt(ref: RunRef, home: string | null): Promise<AdoptedRun | undefined> {
    return this.#retried(() =>
      this.#database.transaction(async (client) => {
        await client.query({ text: sql.lockStatement, values: [ref.session] });
        const { rows } = await client.query<sql.Taken>({ text: sql.takeStatement, values: [ref.id, home, this.home] });
        const [taken] = rows;
        if (!taken) return undefined;
        const fence =
          taken.state === 'running'
            ? await client.query<{ fence: number }>({ text: sql.ownStatement, values: [ref.session, this.home] })
            : undefined;
        const steps = await client.query<{ steps: number }>({ text: sql.stepsStatement, values: [ref.id] });
        const { appName, userId, sessionId, runId, kind, isDetached, input, attempts, cancel, takesBack } = taken;
        return {
          ref,
          key: { appName, userId, sessionId, runId },
          kind,
          isDetached,
          input,
          attempts,
          cancel: cancel ?? undefined,
          takesBack: takesBack ?? undefined,
          fence: fence?.rows[0]?.fence,
          steps: steps.rows[0]?.steps ?? 0,
          isOwn: home === this.home,
        };
      }),
    );
  }

  async #steps({ id }: RunRef): Promise<number> {
    const query = { name: 'agent-run-steps', text: sql.stepsStatement, values: [id] };
    return (await this.#query<{ steps: number }>(query))[0]?.steps ?? 0;
  }

  /** Why a run may not enter. */
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

/** A run that is open already must not be counted again, so nothing may be left of the attempt. */
async function enterAgain(
  client: Queryable,
  query: { text: string; values: unknown[] },
  key: RunKey,
): Promise<sql.Entered | undefined> {
  const { rows } = await client.query<sql.Entered>(query);
  if (rows[0]) return rows[0];
  const { rows: open } = await client.query({
    text: `${sql.findStatement} and r.state in ('queued', 'running')`,
    values: [key.appName, key.userId, key.sessionId, key.runId],
  });
  if (open.length === 0) return undefined;
  throw new AppError('session_busy', `Run "${key.runId}" is not over yet`, { retryAfter: 1 });
}

const channelOf = (home: string): string => `agent-${home}`;
