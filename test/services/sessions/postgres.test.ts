import { afterAll, beforeAll } from 'vitest';
import { PostgresDatabase } from '../../../src/services/postgres/database.ts';
import { PostgresSessionTables } from '../../../src/services/sessions/postgres.ts';
import { SqlSessions } from '../../../src/services/sessions/sql-sessions.ts';
import { sessionServiceContract } from '../../contracts/sessions.ts';
import { type PostgresServer, startPostgres } from '../../support/postgres.ts';

let server: PostgresServer;
let uri: string;
beforeAll(async () => {
  server = await startPostgres();
  uri = await server.newDatabase();
});
afterAll(() => server.close());

const open = (): SqlSessions => new SqlSessions(new PostgresSessionTables(new PostgresDatabase(uri)));

sessionServiceContract('PostgreSQL', open);
