import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, expect, it } from 'vitest';
import { SqlArtifacts } from '../../../src/services/artifacts/sql-artifacts.ts';
import { SqliteArtifactTables } from '../../../src/services/artifacts/sqlite.ts';
import { SqliteDatabase } from '../../../src/services/sqlite/database.ts';
import { artifactRetentionContract } from '../../../src/testing/contracts/artifact-retention.ts';
import { artifactServiceContract } from '../../../src/testing/contracts/artifacts.ts';
import { freshKey } from '../../../src/testing/contracts/events.ts';

const folder = mkdtempSync(join(tmpdir(), 'agent-sqlite-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const open = (file = 'artifacts.db'): SqlArtifacts =>
  new SqlArtifacts(new SqliteArtifactTables(new SqliteDatabase(join(folder, file))));

artifactServiceContract('SQLite', () => open());
let files = 0;
beforeEach(() => void (files += 1));
artifactRetentionContract('SQLite', () => open(`${files}.db`));

it('keeps artifacts of several megabytes, and empty ones', async () => {
  const artifacts = open();
  const key = freshKey();
  const inlineData = { mimeType: 'x/y', data: Buffer.alloc(3_500_000, 'abcdefg').toString('base64') };
  await artifacts.saveArtifact(key, 'big', { inlineData });
  await artifacts.saveArtifact(key, 'empty', { inlineData: { mimeType: 'x/y', data: '' } });

  expect((await artifacts.loadArtifact(key, 'big'))?.inlineData?.data).toBe(inlineData.data);
  expect(await artifacts.loadArtifact(key, 'empty')).toEqual({ inlineData: { mimeType: 'x/y', data: '' } });
  expect((await artifacts.listVersions(key, 'big'))[0]?.size).toBe(3_500_000);
  await artifacts.close();
});

it('loads the newest version when the one it was about to read is deleted as an old one', async () => {
  const key = freshKey();
  /** Another server saves and collects between the two looks at the tables that loading takes. */
  class Late extends SqliteArtifactTables {
    isLate = true;
    override async bytes(...place: Parameters<SqliteArtifactTables['bytes']>): Promise<Uint8Array[]> {
      if (this.isLate) {
        this.isLate = false;
        await other.saveArtifact(key, 'poem', { text: 'newer' });
        await other.collectGarbage({ keep: 1 }, { signal: new AbortController().signal, isTrial: false });
      }
      return super.bytes(...place);
    }
  }
  const database = new SqliteDatabase(join(folder, 'late.db'));
  const other = new SqlArtifacts(new SqliteArtifactTables(database));
  const late = (): SqlArtifacts => new SqlArtifacts(new Late(database));
  await other.saveArtifact(key, 'poem', { text: 'old' });

  expect(await late().loadArtifact(key, 'poem')).toEqual({ text: 'newer' });
  expect(await late().loadArtifact(key, 'poem', 1)).toBeUndefined();
  await database.close();
});
