import { afterAll, beforeAll, beforeEach } from 'vitest';
import { PostgresArtifactTables } from '../../../src/services/artifacts/postgres.ts';
import { SqlArtifacts } from '../../../src/services/artifacts/sql-artifacts.ts';
import { PostgresDatabase } from '../../../src/services/postgres/database.ts';
import { artifactRetentionContract } from '../../contracts/artifact-retention.ts';
import { artifactServiceContract } from '../../contracts/artifacts.ts';
import { type PostgresServer, startPostgres } from '../../support/postgres.ts';

let server: PostgresServer;
let uri: string;
beforeAll(async () => {
  server = await startPostgres();
  uri = await server.newDatabase();
});
afterAll(() => server.close());

const openAt = (place: string): SqlArtifacts =>
  new SqlArtifacts(new PostgresArtifactTables(new PostgresDatabase(place)));

artifactServiceContract('PostgreSQL', () => openAt(uri));

let empty: string;
beforeEach(async () => {
  empty = await server.newDatabase();
});
artifactRetentionContract('PostgreSQL', () => openAt(empty));
