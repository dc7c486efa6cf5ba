import { expect, it, vi } from 'vitest';
import type { TakenOverRun, RunStore } from '../../../src/core/run-store.ts';
import type { SessionService } from '../../../src/core/services.ts';
import { LocalRunQueue } from '../../../src/runner/queue/local-queue.ts';
import { BackgroundRuns } from '../../../src/runs/background-runs.ts';
import { BackgroundWorker, type Pending } from '../../../src/runs/background-worker.ts';
import type { LeasedRunQueue } from '../../../src/runs/cluster/leased-queue.ts';
import { RunTakeover } from '../../../src/runs/cluster/takeover.ts';
import { LocalRuns } from '../../../src/runs/local-runs.ts';
import { textContent } from '../../../src/schemas/content.ts';
import { open } from '../../support/run.ts';

const key = { appName: 'app', userId: 'u', sessionId: 's', runId: 'e-1' };
const request = { ...key, newMessage: textContent('user', 'hi') };

/** Looks once, for one run that lost its server so often, after it had stored so many events. */
async function look(lost: Pick<TakenOverRun, 'takeovers' | 'appendedEvents'>) {
  const run: TakenOverRun = {
    ref: { session: 1, id: '1/e-1' },
    key,
    kind: 'run',
    isDetached: true,
    input: JSON.stringify(request),
    fencingToken: undefined,
    wasOwnedHere: false,
    cancel: undefined,
    rollbackOf: undefined,
    ...lost,
  };
  const finish = vi.fn<RunStore['finish']>(async () => {});
  const sessions = {
    getSession: async () => ({ ...key, id: 's', events: [], state: {}, lastUpdateTime: 1 }),
  } as Partial<SessionService> as SessionService;
  const background = new BackgroundRuns();
  const ended = { signal: open, async *[Symbol.asyncIterator]() {} };
  const resume = vi.fn<() => Promise<Pending>>(async () => ({
    isWaiting: false,
    isPersisted: true,
    begin: async () => ended,
  }));
  await new RunTakeover({
    store: { takeOver: async () => [run], finish } as Partial<RunStore> as RunStore,
    queue: { isConnected: true, isStable: true, runIds: [] } as Partial<LeasedRunQueue> as LeasedRunQueue,
    runner: { enqueueLost: resume },
    services: { sessions },
    background,
    local: new LocalRuns(new LocalRunQueue(), background, { sessions }),
    worker: new BackgroundWorker(background, 1, undefined),
  }).takeOverLostRuns();
  await Promise.all(background.all().map((one) => one.ended));
  return { isResumed: resume.mock.calls.length === 1, ended: finish.mock.calls[0]?.[2]?.status };
}

it('goes on with a run that gets further each time, and gives up one that kills its servers', async () => {
  expect(await look({ takeovers: 10, appendedEvents: 0 })).toEqual({ isResumed: true, ended: undefined });
  expect(await look({ takeovers: 11, appendedEvents: 0 })).toEqual({ isResumed: false, ended: 'interrupted' });
  expect(await look({ takeovers: 40, appendedEvents: 35 })).toEqual({ isResumed: true, ended: undefined });
  expect(await look({ takeovers: 46, appendedEvents: 35 })).toEqual({ isResumed: false, ended: 'interrupted' });
});
