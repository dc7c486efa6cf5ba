import type { CountedRequests, RequestCounts } from '../../core/request-counts.ts';
import type { PostgresDatabase } from '../postgres/database.ts';

/** How often a server deletes the windows that are over. */
const sweepMs = 60_000;

// The clock is that of the database, the same for all servers. `now()` is one time for the whole statement, so that both
// columns agree on whether the window is over. $1 key, $2 window in milliseconds
const countStatement = `insert into agent_request_windows as w (key, ends_at, requests)
    values ($1, now() + $2::float8 * interval '1 millisecond', 1)
  on conflict (key) do update set
    requests = case when w.ends_at <= now() then 1 else w.requests + 1 end,
    ends_at = case when w.ends_at <= now() then excluded.ends_at else w.ends_at end
  returning requests, (extract(epoch from ends_at - now()) * 1000)::float8 as "remainingMs"`;

/** Counts requests in PostgreSQL, in one row for each key. */
export class PostgresRequestCounts implements RequestCounts {
  readonly #database: PostgresDatabase;
  #sweptAtMs = performance.now();

  constructor(database: PostgresDatabase) {
    this.#database = database;
  }

  async count(key: string, windowMs: number): Promise<CountedRequests> {
    const statement = { name: 'agent-count-request', text: countStatement, values: [key, windowMs] };
    const [counted] = await this.#database.query<CountedRequests>(statement);
    if (performance.now() - this.#sweptAtMs >= sweepMs) await this.sweep();
    return counted ?? { requests: 1, remainingMs: windowMs };
  }

  /** Deletes the windows that are over. */
  async sweep(): Promise<void> {
    this.#sweptAtMs = performance.now();
    await this.#database.query('delete from agent_request_windows where ends_at <= now()');
  }
}
