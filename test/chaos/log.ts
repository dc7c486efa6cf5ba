import type { RunStatus } from '../../src/schemas/run-record.ts';

/** A message a client sent until somebody took it. */
export interface Asked {
  readonly session: string;
  /** Nothing else says these words. */
  readonly tag: string;
  /** The run it was told of. */
  run: string | undefined;
}

/** A run that was followed to its end. */
export interface FollowedRun {
  readonly session: string;
  readonly id: string;
  readonly steps: number;
  status: RunStatus;
  /** Its whole events as they were shown, in order. */
  readonly shown: { readonly id: string; readonly json: string }[];
}

/** A time without a word of a run. */
export interface Silence {
  readonly run: string;
  readonly fromMs: number;
  readonly untilMs: number;
}

/** What a client waited for something it asked of one server about a run of the other. */
export interface Wait {
  readonly what: 'cancel' | 'interrupt';
  readonly fromMs: number;
  readonly untilMs: number;
}

/** What clients were told: all that counts as acknowledged. */
export class ClientLog {
  readonly sessions: string[] = [];
  /** Those of them whose runs all wanted to be alone. */
  readonly alone: string[] = [];
  readonly asked: Asked[] = [];
  readonly runs: FollowedRun[] = [];
  readonly silences: Silence[] = [];
  readonly waits: Wait[] = [];
  /** Runs that were said to be over, and how. */
  readonly endings: { readonly session: string; readonly run: string; readonly status: RunStatus }[] = [];
  /** Events of streams without ids, as they came. */
  readonly plain: { readonly session: string; readonly json: string }[] = [];
  /** What was wrong at once. */
  readonly faults: string[] = [];
}
