import {
  type Admission,
  type CounterRef,
  countersLastMs,
  type Reservation,
  type Settlement,
} from '../../core/usage-store.ts';
import type { Connection } from '../sqlite/connection.ts';
import type { WriteContext } from '../sqlite/dialect.ts';
import { type Counter, decide, newCounter, released, sessionColumn, settled } from './counter.ts';

// What changes usage in SQLite. Runs in the thread that writes, within a transaction.

export function reserveUsage({ connection }: WriteContext, reservation: Reservation): Admission {
  const { counters } = reservation;
  const decision = decide(
    counters.map((ref) => counterOf(connection, ref)),
    reservation,
    Date.now(),
  );
  for (const [index, ref] of counters.entries()) put(connection, ref, decision.counters[index] ?? newCounter);
  return decision.admission;
}

export function settleUsage({ connection }: WriteContext, settlement: Settlement): void {
  for (const ref of settlement.counters) put(connection, ref, settled(counterOf(connection, ref), settlement));
}

export function releaseUsage(
  { connection }: WriteContext,
  { counters, idPrefix }: { readonly counters: readonly CounterRef[]; readonly idPrefix: string },
): void {
  for (const ref of counters) put(connection, ref, released(counterOf(connection, ref), idPrefix));
}

export function deleteSessionUsage({ connection }: WriteContext, { session }: { readonly session: string }): void {
  connection.run('delete from agent_usage where session = ?', session);
}

export function deleteOldUsage({ connection }: WriteContext, { nowMs }: { readonly nowMs: number }): void {
  connection.run('delete from agent_usage where until < ?', nowMs);
}

function counterOf(connection: Connection, { id }: CounterRef): Counter {
  const row = connection.get<{ counter: string }>('select counter from agent_usage where id = ?', id);
  return row ? (JSON.parse(row.counter) as Counter) : newCounter;
}

function put(connection: Connection, ref: CounterRef, counter: Counter): void {
  connection.run(
    `insert into agent_usage (id, session, counter, until) values (?, ?, ?, ?)
      on conflict (id) do update set counter = excluded.counter, until = excluded.until`,
    ref.id,
    sessionColumn(ref),
    JSON.stringify(counter),
    Date.now() + countersLastMs[ref.scope],
  );
}
