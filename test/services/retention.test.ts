import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, describe, expect, it } from 'vitest';
import { ranks } from '../../src/core/run-store.ts';
import type { ArtifactService } from '../../src/core/services.ts';
import { FileArtifacts } from '../../src/services/artifacts/files/files.ts';
import { oldVersions } from '../../src/services/artifacts/old-versions.ts';
import { openServices } from '../../src/services/open-services.ts';
import { PostgresDatabase } from '../../src/services/postgres/database.ts';
import { collectGarbage, isArchive, type RetentionLimits } from '../../src/services/retention.ts';
import { PostgresSessionTables } from '../../src/services/sessions/postgres.ts';
import { SqlSessions } from '../../src/services/sessions/sql-sessions.ts';
import { SqliteSessionTables } from '../../src/services/sessions/sqlite.ts';
import { SqliteDatabase } from '../../src/services/sqlite/database.ts';
import { retentionContract } from '../contracts/retention.ts';
import { newDatabase } from '../support/shared.ts';

const folder = mkdtempSync(join(tmpdir(), 'agent-retention-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let files = 0;

retentionContract('SQLite', async () => {
  files += 1;
  return new SqlSessions(new SqliteSessionTables(new SqliteDatabase(join(folder, `${files}.db`))));
});
retentionContract(
  'PostgreSQL',
  async () => new SqlSessions(new PostgresSessionTables(new PostgresDatabase(await newDatabase()))),
);

it('keeps sessions in memory to the same limits, and lets go what belongs to them', async () => {
  const memory = { sessionService: 'memory:', artifactService: 'memory:', memoryService: 'memory:' };
  const { sessions, artifacts } = openServices({ ...memory, maxSessions: 1 });
  const owner = { appName: 'app', userId: 'ada' };
  const first = { ...owner, sessionId: 'first' };
  await sessions.createSession(owner, { sessionId: 'first' });
  await artifacts.saveArtifact(first, 'note', { text: 'x' });

  await sessions.createSession(owner, { sessionId: 'second' });

  expect((await sessions.listSessions(owner)).map(({ id }) => id)).toEqual(['second']);
  expect(await artifacts.listArtifactKeys(first)).toEqual([]);
  expect(isArchive(sessions)).toBe(false);
});

describe('Artifacts and runs with times that were misread', () => {
  const { signal } = new AbortController();
  const memory = { artifactService: 'memory:', memoryService: 'memory:' };
  const key = { appName: 'app', userId: 'ada', sessionId: 's1' };
  const save = async (artifacts: ArtifactService): Promise<void> => {
    for (const text of ['one', 'two']) await artifacts.saveArtifact(key, 'poem', { text });
  };
  const refusal = { code: 'ConfigurationException', message: expect.stringContaining('Artifact "poem"') };

  it.each(['SQLite', 'PostgreSQL'])('are not deleted, nor is anything else, in %s', async (kind) => {
    files += 1;
    const path = join(folder, `${files}.db`);
    const uri = kind === 'SQLite' ? `sqlite:${path}` : await newDatabase();
    const { sessions, artifacts, runs, databases } = openServices({
      ...memory,
      sessionService: uri,
      artifactService: uri,
    });
    await sessions.createSession(key, { sessionId: 's1' });
    await save(artifacts);
    const run = { key: { ...key, runId: 'e-1' }, kind: 'run', isDetached: true, input: '{}', isNew: true } as const;
    const { ref, fencingToken } = await runs!.enqueue(run, { maxOpen: 1, rank: ranks.plain });
    await runs!.finish(ref, fencingToken, { status: 'done' });
    const change = async (sql: string): Promise<void> => {
      if (kind === 'PostgreSQL') await new PostgresDatabase(uri).query(sql, []);
      else new DatabaseSync(path).exec(sql);
    };
    const collect = (limits: RetentionLimits): Promise<unknown> =>
      collectGarbage({ sessions, artifacts, runs }, limits, { signal });

    await change('update agent_artifacts set created_at = 1 where version = 1');
    await expect(collect({ artifactVersionTtlMs: -60_000, runTtlMs: -60_000 })).rejects.toMatchObject(refusal);
    await change(`update agent_runs set ended_at = ${kind === 'SQLite' ? '1' : 'to_timestamp(1)'}`);
    await expect(collect({ maxArtifactVersions: 1, runTtlMs: -60_000 })).rejects.toMatchObject({
      message: expect.stringContaining('agent_runs.ended_at'),
    });
    expect(await artifacts.listVersions(key, 'poem')).toHaveLength(2);
    expect(await runs!.list(key, 9)).toHaveLength(1);
    await runs!.close();
    await databases.close();
  });

  it('are not deleted in files', async () => {
    const artifacts = new FileArtifacts(join(folder, 'files'));
    await save(artifacts);
    const about = join(folder, 'files/apps/app/users/ada/sessions/s1/artifacts/poem/1/about.json');
    writeFileSync(about, readFileSync(about, 'utf8').replace(/"createTime":[\d.]+/, '"createTime":4e10'));

    await expect(artifacts.collectGarbage({ savedBefore: 5e10 }, { signal, isTrial: false })).rejects.toMatchObject(
      refusal,
    );
    expect(await artifacts.collectGarbage({ keep: 1 }, { signal, isTrial: true })).toBe(1);
  });

  it.each([1, 4e10, Number.NaN])('are not deleted elsewhere: no version is old by the time %d', (createTime) => {
    const versions = [{ createTime }, { createTime: Date.now() / 1000 }];
    expect(() => oldVersions('poem', versions, { savedBefore: 5e10 })).toThrow('Artifact "poem"');
    expect(oldVersions('poem', versions, { keep: 1 })).toEqual([versions[0]]);
  });
});
