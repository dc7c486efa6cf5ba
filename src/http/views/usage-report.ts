import { tightestBudgets } from '../../core/run-config.ts';
import { budgetKinds, budgetScopes, counterRefs, endOfDay, type UsageStore } from '../../core/usage-store.ts';
import type { Budgets, UsageReport } from '../../schemas/budget.ts';
import type { SessionOwner } from '../../schemas/session.ts';

interface Reported extends SessionOwner {
  /** Absent: the budgets of the user and the app only. */
  readonly sessionId?: string;
}

/** The budgets of the operator, the app and the caller's credential that apply to a user or a session, and how much of them is left. */
export async function usageReport(
  store: UsageStore,
  reported: Reported,
  ...sources: readonly (Budgets | undefined)[]
): Promise<UsageReport> {
  const budgets = tightestBudgets(...sources) ?? {};
  const now = Date.now();
  const refs = counterRefs(reported, now);
  const limited = budgetScopes.flatMap((scope) => {
    const [ref, budget] = [refs[scope], budgets[scope]];
    return ref && budget ? [{ ref, budget }] : [];
  });
  if (limited.length === 0) return { budgets: [] };
  const usages = await store.read(limited.map(({ ref }) => ref));
  return {
    budgets: limited.flatMap(({ ref: { scope }, budget }, index) =>
      budgetKinds.flatMap((kind) => {
        const limit = budget[kind];
        if (limit === undefined) return [];
        const used = usages[index]?.[kind] ?? 0;
        const resetsAt = scope === 'session' ? undefined : endOfDay(now) / 1000;
        const remaining = Math.max(0, limit - used);
        return [{ scope, kind, limit, used, remaining, ...(resetsAt !== undefined && { resetsAt }) }];
      }),
    ),
  };
}
