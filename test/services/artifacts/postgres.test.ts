import { afterAll, beforeAll } from 'vitest';
import { PostgresArtifactTables } from '../../../src/services/artifacts/postgres.ts';
import { SqlArtifacts } from '../../../src/services/artifacts/sql-artifacts.ts';
import { PostgresDatabase } from '../../../src/services/postgres/database.ts';
import { artifactServiceContract } from '../../contracts/artifacts.ts';
import { type PostgresServer, startPostgres } from '../../support/postgres.ts';

let server: PostgresServer;
let uri: string;
beforeAll(async () => {
  server = await startPostgres();
  uri = await server.newDatabase();
});
afterAll(() => server.close());

artifactServiceContract('PostgreSQL', () => new SqlArtifacts(new PostgresArtifactTables(new PostgresDatabase(uri))));
