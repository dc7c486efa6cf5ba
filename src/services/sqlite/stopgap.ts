import { statSync } from 'node:fs';
import { type Access, Connection } from './connection.ts';
import { isBusy } from './errors.ts';
import { isUpToDate } from './migrate.ts';

/**
 * A reader of a database that cannot be written now: where there is no room, or no right, for the files beside it, it is
 * read without them. Throws when it cannot be read either.
 */
export function openUnwritable(path: string): Connection {
  try {
    return upToDate(path, 'read');
  } catch (error) {
    // What the log holds would be missing; and somebody may be writing.
    if (isBusy(error) || (statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0) throw error;
    return upToDate(path, 'alone');
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
