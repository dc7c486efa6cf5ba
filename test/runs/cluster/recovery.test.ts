import { expect, it, vi } from 'vitest';
import type { AdoptedRun, RunStore } from '../../../src/core/run-store.ts';
import type { SessionService } from '../../../src/core/services.ts';
import type { DurableLine } from '../../../src/runs/cluster/leased-queue.ts';
import { RunRecovery } from '../../../src/runs/cluster/recovery.ts';
import { textContent } from '../../../src/schemas/content.ts';

const key = { appName: 'app', userId: 'u', sessionId: 's', runId: 'e-1' };
const request = { ...key, newMessage: textContent('user', 'hi') };

/** Looks once, for one run that lost its server so often, after it had stored so many events. */
async function look(lost: Pick<AdoptedRun, 'attempts' | 'steps'>) {
  const run: AdoptedRun = {
    ref: { session: 1, id: '1/e-1' },
    key,
    kind: 'run',
    isDetached: true,
    input: JSON.stringify(request),
    fence: undefined,
    isOwn: false,
    cancel: undefined,
    takesBack: undefined,
    ...lost,
  };
  const finish = vi.fn<RunStore['finish']>(async () => {});
  const resume = vi.fn<() => Promise<void>>(async () => {});
  await new RunRecovery({
    store: { adopt: async () => [run], finish } as Partial<RunStore> as RunStore,
    line: { isInTouch: true, isSteady: true, known: [] } as Partial<DurableLine> as DurableLine,
    sessions: {
      getSession: async () => ({ ...key, id: 's', events: [], state: {}, lastUpdateTime: 1 }),
    } as Partial<SessionService> as SessionService,
    resume,
    takeBack: async () => {},
  }).look();
  return { isResumed: resume.mock.calls.length === 1, ended: finish.mock.calls[0]?.[2]?.status };
}

it('goes on with a run that gets further each time, and gives up one that kills its servers', async () => {
  expect(await look({ attempts: 10, steps: 0 })).toEqual({ isResumed: true, ended: undefined });
  expect(await look({ attempts: 11, steps: 0 })).toEqual({ isResumed: false, ended: 'interrupted' });
  expect(await look({ attempts: 40, steps: 35 })).toEqual({ isResumed: true, ended: undefined });
  expect(await look({ attempts: 46, steps: 35 })).toEqual({ isResumed: false, ended: 'interrupted' });
});
