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
import { type Counter, decide, newCounter, released, sessionColumn, sessionName, settled } from './counter.ts';

interface Entry {
  readonly counter: Counter;
  readonly session: string | null;
  readonly untilMs: number;
}

/** Counters at the same time, about 500 bytes each: beyond that, those that were not used for longest are dropped. */
const maxCounters = 100_000;

/** Counts usage in this process. */
export class InMemoryUsage implements UsageStore {
  /** In the order of their last change. */
  readonly #entries = new Map<string, Entry>();

  async reserve(reservation: Reservation): Promise<Admission> {
    const { counters } = reservation;
    const decision = decide(
      counters.map((ref) => this.#counterOf(ref)),
      reservation,
      Date.now(),
    );
    for (const [index, ref] of counters.entries()) this.#put(ref, decision.counters[index] ?? newCounter);
    return decision.admission;
  }

  async settle(settlement: Settlement): Promise<void> {
    for (const ref of settlement.counters) this.#put(ref, settled(this.#counterOf(ref), settlement));
  }

  async read(counters: readonly CounterRef[]): Promise<Usage[]> {
    return counters.map(({ id }) => this.#entries.get(id)?.counter.used ?? noUsage);
  }

  async releaseAll(counters: readonly CounterRef[], idPrefix: string): Promise<void> {
    for (const ref of counters) this.#put(ref, released(this.#counterOf(ref), idPrefix));
  }

  async deleteSessionUsage(session: SessionKey): Promise<void> {
    const name = sessionName(session);
    for (const [id, entry] of this.#entries) if (entry.session === name) this.#entries.delete(id);
  }

  async collectGarbage(): Promise<void> {
    const now = Date.now();
    for (const [id, { untilMs }] of this.#entries) if (untilMs < now) this.#entries.delete(id);
  }

  #counterOf({ id }: CounterRef): Counter {
    return this.#entries.get(id)?.counter ?? newCounter;
  }

  #put(ref: CounterRef, counter: Counter): void {
    this.#entries.delete(ref.id);
    const untilMs = Date.now() + countersLastMs[ref.scope];
    this.#entries.set(ref.id, { counter, session: sessionColumn(ref), untilMs });
    const [oldest] = this.#entries.size > maxCounters ? this.#entries.keys() : [];
    if (oldest !== undefined) this.#entries.delete(oldest);
  }
}
