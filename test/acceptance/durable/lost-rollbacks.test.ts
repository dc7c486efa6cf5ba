import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { type NewRun, ranks } from '../../../src/core/run-store.ts';
import type { Run } from '../../../src/schemas/run-record.ts';
import { openServices } from '../../../src/services/open-services.ts';
import { Replica } from './replicas.ts';

const folder = mkdtempSync(join(tmpdir(), 'agent-rollbacks-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Leaves a run in the store as a server does that is lost before it begins. */
async function leave(uri: string, run: NewRun): Promise<void> {
  const { runs, databases } = openServices({
    sessionService: uri,
    artifactService: 'memory:',
    memoryService: 'memory:',
  });
  const { ref } = await runs!.enqueue(run, { maxOpen: 16, rank: ranks.preempting });
  await runs!.release([ref]);
  await databases.close();
}

it.each([
  ['a run that takes the place of another', 'run', ['done', 'done'], { count: 1 }],
  ['the cancelling of a run', 'exclusive', ['done'], {}],
] as const)('takes back what %s takes back, though its server was lost', async (_name, kind, statuses, state) => {
  const uri = `sqlite:${join(folder, `${kind}.db`)}`;
  const first = await Replica.start(uri);
  const session = await first.newSession('counter');
  const { run } = await first.start(session, 'old');
  await first.wait(session, run.id);
  expect(await first.state(session)).toEqual({ count: 1 });
  await first.process.stop();
  const [, , appName = '', , userId = '', , sessionId = ''] = session.split('/');
  const key = { appName, userId, sessionId, runId: `e-${randomUUID()}` };
  const request = {
    appName,
    userId,
    sessionId,
    newMessage: { role: 'user', parts: [{ text: 'new' }] },
    onBusy: 'rollback',
  };
  await leave(uri, { key, kind, isDetached: true, input: JSON.stringify(request), isNew: true, rollbackOf: run.id });
  const second = await Replica.start(uri);

  const rewinds = async (): Promise<(string | undefined)[]> => {
    const { events } = (await second.process.fetchJson(session)).body as {
      events: { actions: { rewindBeforeInvocationId?: string } }[];
    };
    return events.flatMap(({ actions }) => actions.rewindBeforeInvocationId ?? []);
  };
  await expect.poll(rewinds, { timeout: 20_000 }).toEqual([run.id]);
  const runs = async (): Promise<string[]> =>
    ((await second.process.fetchJson(`${session}/runs`)).body as Run[]).map(({ status }) => status);
  await expect.poll(runs, { timeout: 20_000 }).toEqual(statuses);
  expect(await second.state(session)).toEqual(state);
  await second.process.stop();
});
