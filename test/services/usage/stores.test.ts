import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it, vi } from 'vitest';
import { counterRefs, noUsage } from '../../../src/core/usage-store.ts';
import { openServices } from '../../../src/services/open-services.ts';
import { type UsageStores, usageStoreContract } from '../../contracts/usage-store.ts';
import { newDatabase } from '../../support/shared.ts';

const folder = mkdtempSync(join(tmpdir(), 'agent-usage-stores-'));
const closing: (() => Promise<void>)[] = [];
afterAll(async () => {
  for (const close of closing) await close();
  rmSync(folder, { recursive: true, force: true });
});

function opened(sessionService: string) {
  const services = openServices({ sessionService, artifactService: 'memory:', memoryService: 'memory:' });
  closing.push(() => services.databases.close());
  return services.usage;
}

let databases = 0;
const newFile = (): string => `sqlite:${join(folder, `${(databases += 1)}.db`)}`;
const shared = (uri: string): UsageStores => ({ one: opened(uri), other: opened(uri) });

usageStoreContract('memory', () => {
  const one = opened('memory:');
  return { one, other: one };
});
usageStoreContract('SQLite', () => shared(newFile()));
usageStoreContract('PostgreSQL', async () => shared(await newDatabase()));

const counters = Object.values(counterRefs({ appName: 'app', userId: 'u', sessionId: 's', runId: 'r' }, Date.now()));

it('keeps its counters in SQLite over a restart', async () => {
  const uri = newFile();
  const services = openServices({ sessionService: uri, artifactService: 'memory:', memoryService: 'memory:' });
  await services.usage.settle({ counters, used: { tokens: 12, wallTimeMs: 3 } });
  await services.databases.close();

  const sum = { ...noUsage, tokens: 12, wallTimeMs: 3 };
  expect(await opened(uri).read(counters)).toEqual([sum, sum, sum, sum]);
});

it.each(['memory:', newFile()])('deletes counters that have not been used for long from %s', async (uri) => {
  const store = opened(uri);
  await store.settle({ counters, used: { tokens: 1 } });
  const tokensAfter = async (days: number) => {
    vi.setSystemTime(Date.now() + days * 86_400_000);
    await store.collectGarbage();
    return (await store.read(counters)).map(({ tokens }) => tokens);
  };
  vi.useFakeTimers({ toFake: ['Date'] });
  try {
    expect(await tokensAfter(34)).toEqual([1, 1, 1, 1]);
    expect(await tokensAfter(2)).toEqual([0, 1, 0, 0]);
    expect(await tokensAfter(365)).toEqual([0, 0, 0, 0]);
  } finally {
    vi.useRealTimers();
  }
});
