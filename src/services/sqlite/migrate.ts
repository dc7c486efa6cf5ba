import { AppError } from '../../base/errors.ts';
import type { Connection } from './connection.ts';
import { type Dialect, dialectOf } from './dialect.ts';
import { isOutage } from './errors.ts';
import { adkTables, helpfulIndexes, migrations } from './migrations.ts';

/**
 * Migrates the tables, one program after the other. Returns their dialect. Throws `ConfigurationException` for tables that
 * this version cannot use.
 */
export function migrate(connection: Connection): Dialect {
  connection.exec('begin immediate');
  try {
    refusePickles(connection);
    bringUpToDate(connection);
    connection.exec('commit');
  } catch (error) {
    if (connection.isInTransaction) connection.exec('rollback');
    throw error;
  }
  return dialectOf(connection);
}

function bringUpToDate(connection: Connection): void {
  connection.exec('create table if not exists agent_schema (version integer primary key, applied_at integer not null)');
  const version = versionOf(connection);
  if (version > migrations.length) {
    throw new AppError('ConfigurationException', `The database was written by a newer version (schema ${version})`);
  }
  if (version < migrations.length) connection.exec(adkTables);
  for (const [index, step] of migrations.entries()) {
    if (index < version) continue;
    try {
      connection.exec(step);
    } catch (error) {
      if (isOutage(error)) throw error;
      const message = `The tables cannot be brought up to date: step ${index + 1} fails`;
      throw new AppError('ConfigurationException', message, { cause: error });
    }
    connection.run('insert into agent_schema values (?, ?)', index + 1, Date.now());
  }
  connection.exec(helpfulIndexes);
}

/** Whether the tables are those of this version and need no migration. */
export function isUpToDate(connection: Connection): boolean {
  const made = connection.get(`select 1 from sqlite_master where type = 'table' and name = 'agent_schema'`);
  return made !== undefined && versionOf(connection) === migrations.length;
}

const versionOf = (connection: Connection): number =>
  connection.get<{ version: number | null }>('select max(version) as version from agent_schema')?.version ?? 0;

/** Before its schema had a version, ADK for Python stored actions as pickles, which execute code when they are read. */
function refusePickles(connection: Connection): void {
  const columns = connection.all<{ name: string }>('select name from pragma_table_info(?)', 'events');
  if (columns.length === 0 || columns.some(({ name }) => name === 'event_data')) return;
  throw new AppError(
    'ConfigurationException',
    'The database has the first schema of ADK for Python: bring it up to date with "adk migrate session" first',
  );
}
