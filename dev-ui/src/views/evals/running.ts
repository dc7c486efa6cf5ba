import { create } from 'zustand';
import { cancelEvalRun, type EvalRunBody, runEvalSet } from '../../api/evals.ts';
import { announce } from '../../app/announce.tsx';
import { navigate, to, getLocation } from '../../app/location.ts';
import { queries } from '../../app/queries.ts';
import { outcomeOf } from './outcome.tsx';

/** A run that this page started, whichever view is shown. */
export interface Running {
  readonly app: string;
  readonly set: string;
  readonly runId?: string;
  readonly done: number;
  readonly total: number;
  readonly failed: number;
  readonly latest?: string;
  readonly cancelling?: boolean;
  readonly error?: unknown;
  readonly over?: boolean;
}

type Runs = Readonly<Record<string, Running>>;
const keyOf = (app: string, set: string): string => JSON.stringify([app, set]);

export const useRunning = create<Runs>()(() => ({}));
export const runningIn = (runs: Runs, app: string, set: string): Running | undefined => runs[keyOf(app, set)];

function change(app: string, set: string, news: Partial<Running>): void {
  const key = keyOf(app, set);
  useRunning.setState((runs) => ({ [key]: { app, set, done: 0, total: 0, failed: 0, ...runs[key], ...news } }));
}

/** Runs a set and follows it; opens the result when the set is still shown. Failures show in the store. */
export async function startRun(app: string, set: string, body: EvalRunBody): Promise<void> {
  change(app, set, { done: 0, total: 0, failed: 0, over: false, cancelling: false, error: undefined });
  let failed = 0;
  try {
    for await (const frame of runEvalSet({ app, set }, body, new AbortController().signal)) {
      if (frame.type === 'started') change(app, set, { runId: frame.runId, total: frame.total });
      else if (frame.type === 'case') {
        if (outcomeOf(frame.result) !== 'passed') failed += 1;
        change(app, set, { done: frame.done, total: frame.total, failed, latest: frame.result.evalId });
      } else {
        change(app, set, { over: true });
        announce(`Evaluation finished: ${failed} did not pass`);
        await queries.invalidateQueries({ queryKey: ['eval-runs', app, set] });
        const address = to('/apps/:app/evals/:set/runs/:run', { app, set, run: frame.evalSetResultId });
        if (getLocation().path === to('/apps/:app/evals/:set', { app, set })) navigate(address);
      }
    }
  } catch (error) {
    change(app, set, { over: true, error });
  }
}

export async function cancelRun({ app, set, runId }: Running): Promise<void> {
  if (runId === undefined) return;
  change(app, set, { cancelling: true });
  await cancelEvalRun(app, runId).catch(() => {}); // it had ended already
}
