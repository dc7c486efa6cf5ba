import { afterEach, expect, it, vi } from 'vitest';
import { RunEventLog } from '../../src/runner/queue/event-log.ts';
import { BackgroundRun, BackgroundRuns } from '../../src/runs/background-runs.ts';

afterEach(() => void vi.useRealTimers());

const session = { appName: 'app', userId: 'u', sessionId: 's' };
const runOf = (runId: string): BackgroundRun =>
  new BackgroundRun({ ...session, runId }, new RunEventLog(async function* () {}), {
    idempotencyKey: runId,
    key: `s ${runId}`,
    fingerprint: 'f',
  });

it('knows a run for its time after its end, with its key, and one that goes on for as long as that takes', () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  const runs = new BackgroundRuns(60_000);
  const [first, second, open] = ['first', 'second', 'open'].map(runOf) as [BackgroundRun, BackgroundRun, BackgroundRun];
  for (const run of [first, second, open]) runs.add(run);
  const end = (run: BackgroundRun): void => {
    run.end(undefined);
    runs.retain(run);
  };
  end(first);
  vi.setSystemTime(Date.now() + 50_000);
  end(second);
  vi.setSystemTime(Date.now() + 20_000);

  expect(runs.runsOf(session)).toEqual([second, open]);
  expect(runs.find(first.key)).toBeUndefined();
  expect(runs.findByIdempotencyKey('s first')).toBeUndefined();
  expect(runs.findByIdempotencyKey('s second')).toBe(second);
  vi.setSystemTime(Date.now() + 3_600_000);
  expect(runs.all()).toEqual([open]);
});

it('forgets nothing for its age without a limit, nor a run that goes on under the id of an old one', () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  const endless = new BackgroundRuns();
  const runs = new BackgroundRuns(60_000);
  const [old, again] = [runOf('same'), runOf('same')];
  for (const known of [endless, runs]) known.add(old);
  old.end(undefined);
  for (const known of [endless, runs]) known.retain(old);
  runs.add(again);

  vi.setSystemTime(Date.now() + 3_600_000);

  expect(endless.all()).toEqual([old]);
  expect(runs.all()).toEqual([again]);
});
