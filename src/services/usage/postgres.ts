import {
  type Admission,
  type CounterRef,
  countersLastMs,
  noUsage,
  type Reservation,
  type Settlement,
  type Usage,
  type UsageStore,
} from '../../core/usage-store.ts';
import type { SessionKey } from '../../schemas/session.ts';
import type { PostgresDatabase, Queryable } from '../postgres/database.ts';
import { type Counter, decide, newCounter, released, sessionColumn, sessionName, settled } from './counter.ts';

interface CounterRow {
  readonly id: string;
  readonly counter: string;
}

// Locks the counters for the transaction, in one order for all, and makes those that are missing.
// $1 ids, $2 sessions, $3 empty counter
const lockStatement = `insert into agent_usage (id, session, counter, until)
  select id, session, $3, now() from unnest($1::text[], $2::text[]) as wanted (id, session) order by id
  on conflict (id) do update set until = agent_usage.until returning id, counter`;

// $1 ids, $2 counters, $3 milliseconds to keep each
const updateStatement = `update agent_usage set counter = changed.counter,
    until = now() + changed.lasts * interval '1 millisecond'
  from unnest($1::text[], $2::text[], $3::float8[]) as changed (id, counter, lasts) where agent_usage.id = changed.id`;

/** Counts usage in PostgreSQL, for any number of servers: a transaction holds the rows of the counters it changes. */
export class PostgresUsage implements UsageStore {
  readonly #database: PostgresDatabase;

  constructor(database: PostgresDatabase) {
    this.#database = database;
  }

  reserve(reservation: Reservation): Promise<Admission> {
    return this.#change(reservation.counters, (before, nowMs) => {
      const { counters, admission } = decide(before, reservation, nowMs);
      return { counters, result: admission };
    });
  }

  settle(settlement: Settlement): Promise<void> {
    return this.#change(settlement.counters, (before) => ({
      counters: before.map((counter) => settled(counter, settlement)),
      result: undefined,
    }));
  }

  async read(counters: readonly CounterRef[]): Promise<Usage[]> {
    const text = 'select id, counter from agent_usage where id = any ($1::text[])';
    const ids = counters.map(({ id }) => id);
    const found = byId(await this.#database.query<CounterRow>({ name: 'agent-usage-read', text, values: [ids] }));
    return counters.map(({ id }) => found.get(id)?.used ?? noUsage);
  }

  releaseAll(counters: readonly CounterRef[], idPrefix: string): Promise<void> {
    return this.#change(counters, (before) => ({
      counters: before.map((counter) => released(counter, idPrefix)),
      result: undefined,
    }));
  }

  async deleteSessionUsage(key: SessionKey): Promise<void> {
    await this.#database.query('delete from agent_usage where session = $1', [sessionName(key)]);
  }

  async collectGarbage(): Promise<void> {
    await this.#database.query('delete from agent_usage where until < now()');
  }

  #change<T>(
    refs: readonly CounterRef[],
    work: (before: readonly Counter[], nowMs: number) => { readonly counters: readonly Counter[]; readonly result: T },
  ): Promise<T> {
    return this.#database.transaction(async (client) => {
      const found = await locked(client, refs);
      const { counters, result } = work(
        refs.map(({ id }) => found.get(id) ?? newCounter),
        Date.now(),
      );
      const ids = refs.map(({ id }) => id);
      const lasting = refs.map(({ scope }) => countersLastMs[scope]);
      const values = [ids, counters.map((counter) => JSON.stringify(counter)), lasting];
      await client.query({ name: 'agent-usage-update', text: updateStatement, values });
      return result;
    });
  }
}

async function locked(client: Queryable, refs: readonly CounterRef[]): Promise<Map<string, Counter>> {
  const values = [refs.map(({ id }) => id), refs.map(sessionColumn), JSON.stringify(newCounter)];
  const { rows } = await client.query<CounterRow>({ name: 'agent-usage-lock', text: lockStatement, values });
  return byId(rows);
}

const byId = (rows: readonly CounterRow[]): Map<string, Counter> =>
  new Map(rows.map(({ id, counter }) => [id, JSON.parse(counter) as Counter]));
