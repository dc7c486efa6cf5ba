import { AppError } from '../base/errors.ts';
import type { Event, UsageMetadata } from '../schemas/event.ts';
import type { ModelRequest, ModelResponse } from './model.ts';
import type { ExceededBudget } from './usage-store.ts';

/**
 * The budgets of a run, shared by all its agents. Its methods throw `BudgetExceeded`, and `unavailable` when the usage
 * cannot be counted.
 */
export interface RunBudget {
  /** Called by the runner, first: limits the time of the run. */
  start(run: LimitedRun): Promise<void>;
  /** Called by the runner, last: counts the rest of the run's time. Throws nothing. */
  end(): Promise<void>;
  /** Waits until the call fits beside those under way. The caller settles what it returns, however the call ends. */
  reserveModelCall(request: ModelRequest, caller: ModelCaller): Promise<ReservedModelCall>;
  /** Before a tool runs. */
  countToolCall(signal: AbortSignal): Promise<void>;
  /** Before a live conversation. */
  checkLive(signal: AbortSignal): Promise<void>;
  /** During it. Throws once a budget is used up. */
  countLive(usage: LiveUsage, signal: AbortSignal): Promise<void>;
}

/** The part of a run's context that the estimate of a model call needs. */
export interface ModelCaller {
  readonly agent: { readonly name: string };
  readonly session: { readonly events: readonly Event[] };
  readonly signal: AbortSignal;
}

/** The run whose time is limited. */
export interface LimitedRun {
  readonly signal: AbortSignal;
  readonly abort: (reason: BudgetExceeded) => void;
  /** Another server may have begun it. */
  readonly isContinuing: boolean;
}

/** What the model of a live conversation has used since it was last counted. */
export interface LiveUsage {
  readonly model: string;
  readonly usage: UsageMetadata | undefined;
  /** How many turns ended; each counts as a model call. */
  readonly calls: number;
}

/** A model call that has its room in the budgets. */
export interface ReservedModelCall {
  /** Takes notice of what a response says of usage. */
  note(response: ModelResponse): void;
  /** Counts what the call used. Later calls do nothing. */
  settle(): Promise<void>;
}

const scopeNames = {
  run: 'the run',
  session: 'the session',
  userDay: 'the user today',
  appDay: 'the app today',
} as const;
const kindNames = {
  tokens: 'tokens',
  cost: 'US dollars',
  modelCalls: 'model calls',
  toolCalls: 'tool calls',
  wallTimeMs: 'ms of run time',
} as const;

/** A run ends because a budget is used up. */
export class BudgetExceeded extends AppError {
  readonly exceeded: ExceededBudget;

  /** `retryAfter`: seconds until the budget is full again; absent for one that stays used up. */
  constructor(exceeded: ExceededBudget, retryAfter: number | undefined) {
    const { scope, kind, limit, used, needed } = exceeded;
    const need = used < limit && needed > 0 ? `, and the next call needs about ${rounded(needed)}` : '';
    const message = `Budget exceeded: ${scopeNames[scope]} may use ${limit} ${kindNames[kind]}, ${rounded(used)} are used${need}`;
    super('budget_exceeded', message, retryAfter === undefined ? {} : { retryAfter });
    this.exceeded = exceeded;
  }
}

const rounded = (amount: number): number => Number(amount.toPrecision(6));
