import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import type { RunStore } from '../../../src/core/run-store.ts';
import { openServices } from '../../../src/services/open-services.ts';
import { type RunStores, runStoreContract } from '../../contracts/run-store.ts';
import { newDatabase } from '../../support/shared.ts';

const folder = mkdtempSync(join(tmpdir(), 'agent-run-stores-'));
const closing: (() => Promise<void>)[] = [];
afterAll(async () => {
  for (const close of closing) await close();
  rmSync(folder, { recursive: true, force: true });
});

function storesAt(sessionService: string): RunStores {
  const options = { sessionService, artifactService: 'memory:', memoryService: 'memory:' };
  const [one, other] = [openServices(options), openServices(options)];
  const runsOf = ({ runs }: { runs: RunStore | undefined }): RunStore => {
    if (!runs) throw new Error(`${sessionService} keeps no runs`);
    return runs;
  };
  for (const { runs, databases } of [one, other]) {
    closing.push(async () => {
      await runs?.close();
      await databases.close();
    });
  }
  return { one: runsOf(one), other: runsOf(other), sessions: one.sessions };
}

let databases = 0;
runStoreContract('SQLite', () => storesAt(`sqlite:${join(folder, `${(databases += 1)}.db`)}`));
runStoreContract('PostgreSQL', async () => storesAt(await newDatabase()));
