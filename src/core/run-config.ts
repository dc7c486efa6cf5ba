import { limitOf } from '../base/timers.ts';
import type { Budget, Budgets } from '../schemas/budget.ts';
import type { RunConfig } from '../schemas/run.ts';
import { budgetKinds, budgetScopes } from './usage-store.ts';

/** The limits of a run without configuration. Times are in milliseconds. */
export const defaultLimits = {
  maxLlmCalls: 500,
  maxParallelToolCalls: 16,
  timeoutMs: 600_000,
  toolTimeoutMs: 60_000,
} as const;

/** The three sources of a run's configuration, the most powerful first. Each may leave out any field. */
export interface RunConfigSources {
  /** The settings of the server. */
  readonly operator?: RunConfig | undefined;
  /** The author of the app. */
  readonly app?: RunConfig | undefined;
  /** The client. */
  readonly request?: RunConfig | undefined;
}

/**
 * The effective configuration of a run. The smallest limit wins: an app can lower the operator's limit, or set its own if
 * the operator sets none; a request can only lower it. 0 means no limit for the operator and the app, and is ignored in a
 * request. In the result, no limit is Infinity. The smallest budget wins as well; a budget of 0 allows nothing. For all
 * other fields the request overrides the app, the app the operator.
 */
export function runConfigFor({ operator = {}, app = {}, request = {} }: RunConfigSources): RunConfig {
  const limit = (name: keyof typeof defaultLimits): number => {
    const own = app[name] ?? operator[name] ?? defaultLimits[name];
    return Math.min(limitOf(operator[name]), limitOf(own), limitOf(request[name]));
  };
  const budgets = tightestBudgets(operator.budgets, app.budgets, request.budgets);
  const isSequential = [operator, app, request].some(({ toolExecutionMode }) => toolExecutionMode === 'sequential');
  return {
    ...operator,
    ...app,
    ...request,
    maxLlmCalls: limit('maxLlmCalls'),
    maxParallelToolCalls: limit('maxParallelToolCalls'),
    timeoutMs: limit('timeoutMs'),
    toolTimeoutMs: limit('toolTimeoutMs'),
    ...(budgets && { budgets }),
    ...(isSequential && { toolExecutionMode: 'sequential' }),
  };
}

/** The smallest budget of each scope and kind; `undefined` if there is none at all. */
export function tightestBudgets(...sources: readonly (Budgets | undefined)[]): Budgets | undefined {
  if (!sources.some(Boolean)) return undefined;
  const tightest: Budgets = {};
  for (const scope of budgetScopes) {
    const budget: Budget = {};
    for (const kind of budgetKinds) {
      const limits = sources.flatMap((source) => source?.[scope]?.[kind] ?? []);
      if (limits.length > 0) budget[kind] = Math.min(...limits);
    }
    if (Object.keys(budget).length > 0) tightest[scope] = budget;
  }
  return Object.keys(tightest).length > 0 ? tightest : undefined;
}
