import { DatabaseSync } from 'node:sqlite';
import pg from 'pg';

export interface SessionRow {
  readonly id: string;
  readonly num: number;
  readonly nextSeq: number;
  readonly queued: number;
  readonly owner: string | null;
}

export interface EventRow {
  readonly session: number;
  readonly seq: number;
  readonly id: string;
  readonly run: string | null;
  readonly step: number | null;
  readonly body: string;
}

export interface RunRow {
  readonly id: string;
  readonly session: number;
  /** When it began, and when it was over, in milliseconds. */
  readonly startedMs: number | null;
  readonly endedMs: number | null;
  readonly invocation: string;
  readonly state: string;
}

/** What is in a database, read without any of our code. */
export interface Tables {
  readonly sessions: readonly SessionRow[];
  /** In the order of each session. */
  readonly events: readonly EventRow[];
  /** Sessions, numbers and ids as ADK sees them. */
  readonly adkEvents: readonly { readonly session: string; readonly seq: number; readonly id: string }[];
  readonly runs: readonly RunRow[];
  /** What SQLite says of its file; `ok` when it finds nothing. */
  readonly integrity: string;
}

const statements = {
  sessions: 'select id, num, next_seq as "nextSeq", queued, owner from sessions order by num',
  events: `select session_num as session, seq, event_id as id, run_id as run, step, body from agent_events
    order by session_num, seq`,
  adkEvents: 'select session_id as session, seq, id from events order by session_id, seq',
} as const;

const runs = (ms: (column: string) => string): string =>
  `select id, session_num as session, invocation_id as invocation, state, ${ms('started_at')} as "startedMs",
    ${ms('ended_at')} as "endedMs" from agent_runs order by session_num, pos`;
const ofPostgres = { ...statements, runs: runs((column) => `extract(epoch from ${column})::float8 * 1000`) };
const ofSqlite = { ...statements, runs: runs((column) => column) };

export async function readPostgres(uri: string): Promise<Tables> {
  // As numbers, which these are small enough for.
  const types = { getTypeParser: (oid: number) => (oid === 20 ? Number : pg.types.getTypeParser(oid)) };
  const client = new pg.Client({ connectionString: uri, types });
  await client.connect();
  try {
    const rows: Record<string, unknown[]> = {};
    for (const [name, sql] of Object.entries(ofPostgres)) rows[name] = (await client.query(sql)).rows as unknown[];
    return { ...rows, integrity: 'ok' } as unknown as Tables;
  } finally {
    await client.end();
  }
}

export function readSqlite(file: string): Tables {
  const database = new DatabaseSync(file);
  try {
    const rows: Record<string, unknown[]> = {};
    for (const [name, sql] of Object.entries(ofSqlite)) rows[name] = database.prepare(sql).all();
    const checked = database.prepare('pragma integrity_check').get() as { integrity_check: string };
    return { ...rows, integrity: checked.integrity_check } as unknown as Tables;
  } finally {
    database.close();
  }
}
