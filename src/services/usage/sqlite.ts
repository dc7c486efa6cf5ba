import {
  type Admission,
  type CounterRef,
  noUsage,
  type Reservation,
  type Settlement,
  type Usage,
  type UsageStore,
} from '../../core/usage-store.ts';
import type { SessionKey } from '../../schemas/session.ts';
import type { SqliteDatabase } from '../sqlite/database.ts';
import { type Counter, sessionName } from './counter.ts';

/** Counts usage in SQLite. */
export class SqliteUsage implements UsageStore {
  readonly #database: SqliteDatabase;

  constructor(database: SqliteDatabase) {
    this.#database = database;
  }

  reserve(reservation: Reservation): Promise<Admission> {
    return this.#database.write('reserveUsage', reservation);
  }

  settle(settlement: Settlement): Promise<void> {
    return this.#database.write('settleUsage', settlement);
  }

  read(counters: readonly CounterRef[]): Promise<Usage[]> {
    const sql = 'select counter from agent_usage where id = ?';
    return this.#database.read((connection) =>
      counters.map(({ id }) => {
        const row = connection.get<{ counter: string }>(sql, id);
        return row ? (JSON.parse(row.counter) as Counter).used : noUsage;
      }),
    );
  }

  releaseAll(counters: readonly CounterRef[], idPrefix: string): Promise<void> {
    return this.#database.write('releaseUsage', { counters, idPrefix });
  }

  /** Looks first: where nothing has a budget, deleting a session costs no write. */
  async deleteSessionUsage(key: SessionKey): Promise<void> {
    const session = sessionName(key);
    const sql = 'select 1 from agent_usage where session = ?';
    const isThere = await this.#database.read((connection) => connection.get(sql, session) !== undefined);
    if (isThere) await this.#database.write('deleteSessionUsage', { session });
  }

  async collectGarbage(): Promise<void> {
    const nowMs = Date.now();
    const sql = 'select 1 from agent_usage where until < ?';
    const isThere = await this.#database.read((connection) => connection.get(sql, nowMs) !== undefined);
    if (isThere) await this.#database.write('deleteOldUsage', { nowMs });
  }
}
