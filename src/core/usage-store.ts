import type { Budget, BudgetKind, BudgetScope } from '../schemas/budget.ts';
import type { SessionKey, SessionOwner } from '../schemas/session.ts';

export const budgetScopes = ['run', 'session', 'userDay', 'appDay'] as const satisfies readonly BudgetScope[];
export const budgetKinds = [
  'tokens',
  'cost',
  'modelCalls',
  'toolCalls',
  'wallTimeMs',
] as const satisfies readonly BudgetKind[];

/** What was used. Cost is in US dollars. */
export type Usage = Readonly<Record<BudgetKind, number>>;

export const noUsage: Usage = { tokens: 0, cost: 0, modelCalls: 0, toolCalls: 0, wallTimeMs: 0 };

/** A counter of usage: of one run, one session, one user and UTC day, or one app and UTC day. */
export interface CounterRef {
  readonly scope: BudgetScope;
  /** Unique among all counters: JSON of the scope and of what names its object. */
  readonly id: string;
  /** The session that a counter of the scopes `run` and `session` is deleted with. */
  readonly session?: SessionKey;
}

/** A counter with the budget that applies to it. */
export interface LimitedCounter extends CounterRef {
  readonly budget: Budget;
}

/** What a model call will use: `least` for certain, and not more than `most` as far as anybody can tell. */
export interface Estimate {
  readonly least: Pick<Usage, 'tokens' | 'cost'>;
  readonly most: Pick<Usage, 'tokens' | 'cost'>;
}

/** Asks for room in counters before a model call or a tool call. */
export interface Reservation {
  readonly id: string;
  readonly counters: readonly LimitedCounter[];
  /** The kinds of budgets that refuse it when they are used up. */
  readonly checks: readonly BudgetKind[];
  /** Time that has passed. It is counted in any case. */
  readonly wallTimeMs: number;
  /** What is counted when the reservation is granted: one model call or one tool call; absent: nothing. */
  readonly call?: 'modelCalls' | 'toolCalls';
  /** Held until `settle`. Absent for a tool call. */
  readonly estimate?: Estimate;
  /** Milliseconds after which the estimate is given up: when the run that holds it is over in any case. */
  readonly lifetimeMs: number;
}

/** Which budget is in the way, and how much of it is used. */
export interface ExceededBudget {
  readonly scope: BudgetScope;
  readonly kind: BudgetKind;
  readonly limit: number;
  readonly used: number;
  /** The least that the refused call would have used; 0 if that is not known. */
  readonly needed: number;
}

/** `busy`: it fits if the calls under way use less than they hold; ask again when they are over. */
export type Admission =
  | { readonly status: 'granted' }
  | { readonly status: 'exceeded'; readonly exceeded: ExceededBudget }
  | { readonly status: 'busy' };

/** What has become known after a call, or at the end of a run. */
export interface Settlement {
  /** The reservation whose estimate this replaces; absent: none. */
  readonly reservationId?: string;
  readonly counters: readonly CounterRef[];
  readonly used: Partial<Usage>;
}

/**
 * Counts usage. Each method is atomic over all its counters and over all servers that share the store, and durable once it
 * resolves where the store is.
 */
export interface UsageStore {
  reserve(reservation: Reservation): Promise<Admission>;
  /** Replaces the estimate of a reservation, if the store still has it, by what was used. */
  settle(settlement: Settlement): Promise<void>;
  /** In the order of the counters; `noUsage` for one that does not exist. */
  read(counters: readonly CounterRef[]): Promise<Usage[]>;
  /** Gives up what a run still holds: its server died, and another one has the run now. */
  releaseAll(counters: readonly CounterRef[], idPrefix: string): Promise<void>;
  /** Deletes the counters of a session and of its runs. */
  deleteSessionUsage(key: SessionKey): Promise<void>;
  /** Deletes the counters that nothing was counted in for long: see `countersLastMs`. */
  collectGarbage(): Promise<void>;
}

const day = 86_400_000;

/** How long a counter is kept after its last change. Those of sessions are usually deleted with their session before. */
export const countersLastMs: Readonly<Record<BudgetScope, number>> = {
  run: 35 * day,
  session: 400 * day,
  userDay: 35 * day,
  appDay: 35 * day,
};

/** The counters that a run counts in, or those of a user or session that are read. `atMs`: when. */
export function counterRefs(
  { appName, userId, sessionId, runId }: SessionOwner & { readonly sessionId?: string; readonly runId?: string },
  atMs: number,
): Partial<Record<BudgetScope, CounterRef>> {
  const date = utcDay(atMs);
  const counter = (scope: BudgetScope, ...names: string[]): CounterRef => ({
    scope,
    id: JSON.stringify([scope, ...names]),
  });
  const own = [appName, userId, sessionId ?? ''];
  const session = sessionId === undefined ? undefined : { appName, userId, sessionId };
  return {
    ...(session && runId !== undefined && { run: { ...counter('run', ...own, runId), session } }),
    ...(session && { session: { ...counter('session', ...own), session } }),
    userDay: counter('userDay', date, appName, userId),
    appDay: counter('appDay', date, appName),
  };
}

const utcDay = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

/** When the UTC day is over, in milliseconds since the epoch. */
export const endOfDay = (ms: number): number => (Math.floor(ms / day) + 1) * day;
