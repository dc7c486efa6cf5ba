import type { PoolClient } from 'pg';
import { AppError } from '../../base/errors.ts';
import type { Dialect } from './dialect.ts';
import { isOutage } from './errors.ts';
import { adkTables, helpfulIndexes, migrations } from './migrations.ts';

/** An arbitrary number, the same in all servers. */
const migrationLock = 7_263_110_401;

/**
 * Migrates the tables in the transaction of `client`, one server after the other. Returns their dialect. Throws
 * `ConfigurationException` for tables that this version cannot use.
 */
export async function migrate(client: PoolClient): Promise<Dialect> {
  await client.query('select pg_advisory_xact_lock($1)', [migrationLock]);
  await refusePickles(client);
  const version = await versionOf(client);
  if (version > migrations.length) {
    throw new AppError('ConfigurationException', `The database was written by a newer version (schema ${version})`);
  }
  if (version < migrations.length) {
    await client.query(adkTables);
    for (const [index, step] of migrations.entries()) {
      if (index < version) continue;
      await client.query(step).catch((error: unknown) => {
        throw isOutage(error) ? error : stepFailed(index + 1, error);
      });
      await client.query('insert into agent_schema (version) values ($1)', [index + 1]);
    }
  }
  await indexAgain(client);
  return dialectOf(client);
}

const stepFailed = (number: number, cause: unknown): AppError =>
  new AppError('ConfigurationException', `The tables cannot be brought up to date: step ${number} fails`, { cause });

/** Checks first, because a server that finds the tables needs no permission to create them. */
async function versionOf(client: PoolClient): Promise<number> {
  const { rows: found } = await client.query<{ there: boolean }>(
    `select to_regclass('agent_schema') is not null as there`,
  );
  if (!found[0]?.there) {
    await client.query(
      'create table agent_schema (version int primary key, applied_at timestamptz not null default now())',
    );
  }
  const { rows } = await client.query<{ version: number | null }>('select max(version) as version from agent_schema');
  return rows[0]?.version ?? 0;
}

/** Checks first, because even `create index if not exists` would wait for all writers. */
async function indexAgain(client: PoolClient): Promise<void> {
  const { rows } = await client.query<{ name: string }>(
    'select indexname as name from pg_indexes where schemaname = current_schema()',
  );
  const there = new Set(rows.map(({ name }) => name));
  for (const [name, statement] of helpfulIndexes) if (!there.has(name)) await client.query(statement);
}

interface Column {
  readonly table_name: string;
  readonly column_name: string;
  readonly data_type: string;
}

/** Before its schema had a version, ADK for Python stored actions as pickles, which execute code when they are read. */
async function refusePickles(client: PoolClient): Promise<void> {
  const columns = await columnsOf(client);
  const ofEvents = columns.filter(({ table_name }) => table_name === 'events');
  if (ofEvents.length === 0 || ofEvents.some(({ column_name }) => column_name === 'event_data')) return;
  throw new AppError(
    'ConfigurationException',
    'The database has the first schema of ADK for Python: bring it up to date with "adk migrate session" first',
  );
}

async function dialectOf(client: PoolClient): Promise<Dialect> {
  const ofSessions = (await columnsOf(client)).filter(({ table_name }) => table_name === 'sessions');
  const isZoned = ofSessions.some(
    ({ column_name, data_type }) => column_name === 'update_time' && data_type === 'timestamp with time zone',
  );
  return {
    time: (ms) => (isZoned ? `to_timestamp(${ms} / 1000.0)` : `(to_timestamp(${ms} / 1000.0) at time zone 'UTC')`),
    // ADK for Python expects the time inside the event in seconds.
    eventData: (json, seconds) => (isZoned ? json : `jsonb_set(${json}, '{timestamp}', to_jsonb(${seconds}))`),
    hasEventSequence: ofSessions.some(({ column_name }) => column_name === 'event_sequence'),
  };
}

async function columnsOf(client: PoolClient): Promise<Column[]> {
  const { rows } = await client.query<Column>(
    `select table_name, column_name, data_type from information_schema.columns
      where table_schema = current_schema() and table_name in ('sessions', 'events')`,
  );
  return rows;
}
