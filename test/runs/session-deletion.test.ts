import { expect, it } from 'vitest';
import { LocalRunQueue } from '../../src/runner/queue/local-queue.ts';
import type { QueueRequest } from '../../src/runner/queue/run-queue.ts';
import { BackgroundRuns } from '../../src/runs/background-runs.ts';
import { SessionDeletion } from '../../src/runs/session-deletion.ts';
import { InMemoryArtifacts } from '../../src/services/artifacts/in-memory.ts';
import { InMemorySessions } from '../../src/services/sessions/in-memory.ts';
import { open } from '../support/run.ts';

const key = { appName: 'app', userId: 'u', sessionId: 's' };
const request: QueueRequest = {
  session: key,
  runId: 'run',
  kind: 'run',
  onBusy: 'queue',
  request: { ...key, streaming: false },
  isNew: true,
  submission: undefined,
};

async function scene() {
  const queue = new LocalRunQueue();
  const services = { sessions: new InMemorySessions(), artifacts: new InMemoryArtifacts() };
  const { lastUpdateTime } = await services.sessions.createSession(key, { sessionId: 's' });
  await services.artifacts.saveArtifact(key, 'note', { text: 'x' });
  return {
    queue,
    services,
    lastUpdateTime,
    deletion: new SessionDeletion({ queue, services, background: new BackgroundRuns() }),
  };
}

it('deletes a session that nobody uses, with what belongs to it', async () => {
  const { services, deletion, lastUpdateTime } = await scene();

  expect(await deletion.deleteIdle(key, lastUpdateTime)).toBe(true);

  expect(await services.sessions.getSession(key)).toBeUndefined();
  expect(await services.artifacts.listArtifactKeys(key)).toEqual([]);
  expect(await deletion.deleteIdle(key, lastUpdateTime)).toBe(false);
});

it('leaves a session alone that has a run, or was written to since', async () => {
  const { queue, services, deletion, lastUpdateTime } = await scene();
  const slot = await queue.acquire(request, open);

  expect(await deletion.deleteIdle(key, lastUpdateTime)).toBe(false);
  slot.release();
  expect(await deletion.deleteIdle(key, lastUpdateTime - 1)).toBe(false);

  expect(slot.signal.aborted).toBe(false);
  expect(await services.sessions.getSession(key)).toBeDefined();
  expect(await services.artifacts.listArtifactKeys(key)).toEqual(['note']);
});

it('lets memory forget no session that has a run', async () => {
  const queue = new LocalRunQueue();
  const sessions = new InMemorySessions({ maxSessions: 1, isInUse: (one) => queue.runsOf(one).length > 0 });
  await sessions.createSession(key, { sessionId: 's' });
  const slot = await queue.acquire(request, open);

  await sessions.createSession(key, { sessionId: 't' });
  expect((await sessions.listSessions(key)).map(({ id }) => id)).toEqual(['s', 't']);
  slot.release();
  await sessions.createSession(key, { sessionId: 'u' });

  expect((await sessions.listSessions(key)).map(({ id }) => id)).toEqual(['u']);
});
