import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { SqliteMemories } from '../../../src/services/memories/sqlite.ts';
import { SqliteDatabase } from '../../../src/services/sqlite/database.ts';
import { memoryServiceContract } from '../../../src/testing/contracts/memories.ts';

const folder = mkdtempSync(join(tmpdir(), 'agent-sqlite-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

memoryServiceContract('SQLite', () => new SqliteMemories(new SqliteDatabase(join(folder, 'memories.db'))));
