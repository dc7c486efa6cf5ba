import { statSync } from 'node:fs';
import { type Access, Connection } from './connection.ts';
import { isBusy } from './errors.ts';
import { isUpToDate } from './migrate.ts';

/**
 * Opens a database read-only that cannot be written now. If there is no disk space or no permission for the files beside
 * it, reads it without them. Throws when it cannot be read, either.
 */
export function openReadOnlyFallback(path: string): Connection {
  try {
    return upToDate(path, 'read');
  } catch (error) {
    // The content of the log would be missing, and another program may be writing.
    if (isBusy(error) || (statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0) throw error;
    return upToDate(path, 'immutable');
  }
}

function upToDate(path: string, access: Access): Connection {
  const connection = new Connection(path, access);
  try {
    if (isUpToDate(connection)) return connection;
    throw new Error('The tables of the database are not there yet');
  } catch (error) {
    connection.close();
    throw error;
  }
}
