import { beforeAll } from 'vitest';
import { PostgresMemories } from '../../../src/services/memories/postgres.ts';
import { PostgresDatabase } from '../../../src/services/postgres/database.ts';
import { memoryServiceContract } from '../../../src/testing/contracts/memories.ts';
import { newDatabase } from '../../support/shared.ts';

let uri: string;
beforeAll(async () => {
  uri = await newDatabase();
});

memoryServiceContract('PostgreSQL', () => new PostgresMemories(new PostgresDatabase(uri)));
