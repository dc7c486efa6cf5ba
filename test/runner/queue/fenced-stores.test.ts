import { expect, it } from 'vitest';
import { fencedServices, type WritePermit } from '../../../src/runner/queue/fenced-stores.ts';
import { InMemoryArtifacts } from '../../../src/services/artifacts/in-memory.ts';
import { InMemoryMemories } from '../../../src/services/memories/in-memory.ts';
import { InMemorySessions } from '../../../src/services/sessions/in-memory.ts';

const key = { appName: 'app', userId: 'u', sessionId: 's' };

/** Services that a run may write to until it is refused. */
async function scene() {
  const state = { refusal: undefined as Error | undefined, tracked: 0 };
  const permit: WritePermit = {
    checkMayWrite: () => {
      if (state.refusal) throw state.refusal;
    },
    trackWrite: () => (state.tracked += 1),
  };
  const stores = {
    sessions: new InMemorySessions(),
    artifacts: new InMemoryArtifacts(),
    memories: new InMemoryMemories(),
  };
  const session = await stores.sessions.createSession(key, { sessionId: 's' });
  const { artifacts, memories } = fencedServices(stores, permit, stores.sessions);
  return { state, stores, session, artifacts: artifacts!, memories: memories! };
}

it('lets a run write as long as it has its session, and tracks each write', async () => {
  const { state, session, artifacts, memories } = await scene();

  expect(await artifacts.saveArtifact(key, 'note', { text: 'x' })).toBe(0);
  await memories.addSessionToMemory(session);
  await artifacts.deleteArtifact(key, 'note');

  expect(state.tracked).toBe(3);
});

it('refuses every write of a run that has lost its session, and none of its reads', async () => {
  const { state, session, artifacts, memories } = await scene();
  await artifacts.saveArtifact(key, 'note', { text: 'x' });
  state.refusal = new Error('lost');

  const copied = { version: 3, metadata: {} };
  const collect = { signal: new AbortController().signal, isTrial: false };
  const writes = [
    artifacts.saveArtifact(key, 'note', { text: 'y' }),
    artifacts.saveArtifactCopy?.(key, 'note', { text: 'y' }, copied),
    artifacts.deleteArtifact(key, 'note'),
    artifacts.deleteSessionArtifacts(key),
    artifacts.collectGarbage?.({ keep: 1 }, collect),
    memories.addSessionToMemory(session),
    memories.deleteSessionMemory(key),
  ].filter((write) => write !== undefined);

  const outcomes = await Promise.allSettled(writes);
  expect(outcomes.map(({ status }) => status)).toEqual(writes.map(() => 'rejected'));
  expect(await artifacts.loadArtifact(key, 'note')).toMatchObject({ text: 'x' });
  expect(await artifacts.listArtifactKeys(key)).toEqual(['note']);
  expect(await artifacts.listVersions(key, 'note')).toHaveLength(1);
  expect(await memories.searchMemory(key, 'x')).toEqual([]);
});

it('has what its store can do, and nothing else', async () => {
  const { stores, artifacts } = await scene();

  for (const name of [
    'saveArtifactCopy',
    'saveArtifactContent',
    'openArtifact',
    'collectGarbage',
    'check',
    'close',
  ] as const) {
    expect([name, typeof artifacts[name]]).toEqual([name, typeof stores.artifacts[name as keyof InMemoryArtifacts]]);
  }
});
