import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import type { KeyStore } from '../../../src/core/key-store.ts';
import { newApiKey } from '../../../src/identity/api-keys.ts';
import { KeyFile } from '../../../src/identity/key-file.ts';
import { Databases, keyStoreAt } from '../../../src/services/open-services.ts';
import { keyStoreContract } from '../../contracts/key-store.ts';
import { collectedLog } from '../../support/caller.ts';
import { newDatabase } from '../../support/shared.ts';

const folder = mkdtempSync(join(tmpdir(), 'agent-keys-'));
const opened: Databases[] = [];
afterAll(async () => {
  for (const databases of opened) await databases.close();
  rmSync(folder, { recursive: true, force: true });
});

function open(sessionService: string): { store: KeyStore; databases: Databases } {
  const databases = new Databases();
  opened.push(databases);
  const store = keyStoreAt(sessionService, databases);
  if (!store) throw new Error(`${sessionService} keeps no keys`);
  return { store, databases };
}

let files = 0;
keyStoreContract('SQLite', async () => {
  const uri = `sqlite:${join(folder, `${(files += 1)}.db`)}`;
  return [open(uri).store, open(uri).store];
});
keyStoreContract('PostgreSQL', async () => {
  const uri = await newDatabase();
  return [open(uri).store, open(uri).store];
});
keyStoreContract('A file', async () => {
  const options = { path: join(folder, `${(files += 1)}.json`), log: collectedLog() };
  return [new KeyFile(options), new KeyFile(options)];
});

it('keeps keys beside the sessions of SQL databases only', () => {
  const databases = new Databases();

  for (const uri of ['memory:', 'firestore://some-project', 'agentengine://1']) {
    expect(keyStoreAt(uri, databases)).toBeUndefined();
  }
});

it.each(['SQLite', 'PostgreSQL'])('leaves out a row of %s that this version cannot read', async (name) => {
  const uri = name === 'SQLite' ? `sqlite:${join(folder, 'newer.db')}` : await newDatabase();
  const { store, databases } = open(uri);
  const { record } = newApiKey({ owner: 'Ada', actsForUsers: true, roles: ['user'] });
  const newer = { ...record, id: 'f'.repeat(16), onlyFrom: ['10.0.0.0/8'] };
  await store.add(record);
  await store.add(newer);

  expect(await open(uri).store.list()).toEqual([record]);
  await databases.close();
});
