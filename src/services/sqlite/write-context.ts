import type { Connection } from './connection.ts';
import type { Dialect } from './dialect.ts';

/** What a write works with: the connection of its transaction. */
export interface WriteContext {
  readonly connection: Connection;
  readonly dialect: Dialect;
}
