import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { isImported } from '../../src/core/events/imported-events.ts';
import { exportLines, importLines } from '../../src/services/archive.ts';
import { InMemoryArtifacts } from '../../src/services/artifacts/in-memory.ts';
import { openServices } from '../../src/services/open-services.ts';
import { saying } from '../../src/testing/contracts/events.ts';

it('keeps which events clients brought along, and trusts what the operator brings', async () => {
  const owner = { appName: 'app', userId: 'u' };
  const folder = mkdtempSync(join(tmpdir(), 'agent-archive-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const open = (name: string) => {
    const sessionService = `sqlite:${join(folder, name)}`;
    const opened = openServices({ sessionService, artifactService: 'memory:', memoryService: 'memory:' });
    return { ...opened, artifacts: new InMemoryArtifacts() };
  };
  const [from, to] = [open('from.db'), open('to.db')];
  const events = [saying('one'), saying('two')];
  await from.sessions.createSession(owner, { sessionId: 'brought', events, imported: 2 });
  await from.sessions.createSession(owner, { sessionId: 'own', events: [saying('three')] });
  const archive = from.sessions as Parameters<typeof exportLines>[0];

  const lines = await Array.fromAsync(exportLines(archive, from.artifacts));
  await importLines(asLines(lines), to.sessions, to.artifacts);

  const marks = async (sessionId: string): Promise<boolean[] | undefined> =>
    (await to.sessions.getSession({ ...owner, sessionId }))?.events.map(isImported);
  expect(await marks('brought')).toEqual([true, true]);
  expect(await marks('own')).toEqual([false]);
  await Promise.all([from.databases.close(), to.databases.close()]);
});

async function* asLines(lines: readonly string[]): AsyncGenerator<string, void, void> {
  yield* lines;
}
