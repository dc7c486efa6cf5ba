import { beforeAll, beforeEach } from 'vitest';
import { PostgresArtifactTables } from '../../../src/services/artifacts/postgres.ts';
import { SqlArtifacts } from '../../../src/services/artifacts/sql-artifacts.ts';
import { PostgresDatabase } from '../../../src/services/postgres/database.ts';
import { artifactRetentionContract } from '../../../src/testing/contracts/artifact-retention.ts';
import { artifactServiceContract } from '../../../src/testing/contracts/artifacts.ts';
import { newDatabase } from '../../support/shared.ts';

let uri: string;
beforeAll(async () => {
  uri = await newDatabase();
});

const openAt = (place: string): SqlArtifacts =>
  new SqlArtifacts(new PostgresArtifactTables(new PostgresDatabase(place)));

artifactServiceContract('PostgreSQL', () => openAt(uri));

let empty: string;
beforeEach(async () => {
  empty = await newDatabase();
});
artifactRetentionContract('PostgreSQL', () => openAt(empty));
