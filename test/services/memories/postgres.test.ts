import { afterAll, beforeAll } from 'vitest';
import { PostgresMemories } from '../../../src/services/memories/postgres.ts';
import { PostgresDatabase } from '../../../src/services/postgres/database.ts';
import { memoryServiceContract } from '../../contracts/memories.ts';
import { type PostgresServer, startPostgres } from '../../support/postgres.ts';

let server: PostgresServer;
let uri: string;
beforeAll(async () => {
  server = await startPostgres();
  uri = await server.newDatabase();
});
afterAll(() => server.close());

memoryServiceContract('PostgreSQL', () => new PostgresMemories(new PostgresDatabase(uri)));
