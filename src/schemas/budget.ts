import { z } from 'zod';

const count = z.int().nonnegative().max(Number.MAX_SAFE_INTEGER);

/** What may be used up until runs end with `budget_exceeded`. Absent: no budget of this kind. 0: nothing may be used. */
export const Budget = z.strictObject({
  tokens: count.optional(),
  /** US dollars, by the price table. */
  cost: z.number().nonnegative().optional(),
  modelCalls: count.optional(),
  toolCalls: count.optional(),
  wallTimeMs: count.optional(),
});
export type Budget = z.infer<typeof Budget>;
export type BudgetKind = keyof Budget;

/** For one run, one session, one user and day, one app and day. Days are those of UTC. */
export const Budgets = z.strictObject({
  run: Budget.optional(),
  session: Budget.optional(),
  userDay: Budget.optional(),
  appDay: Budget.optional(),
});
export type Budgets = z.infer<typeof Budgets>;
export type BudgetScope = keyof Budgets;

/** One budget that applies, and how much of it is left. Cost in US dollars, times in milliseconds. */
const BudgetUsage = z.object({
  scope: z.enum(['run', 'session', 'userDay', 'appDay']),
  kind: z.enum(['tokens', 'cost', 'modelCalls', 'toolCalls', 'wallTimeMs']),
  limit: z.number(),
  used: z.number(),
  remaining: z.number(),
  /** When a budget of a day is full again, in seconds since the epoch. */
  resetsAt: z.number().optional(),
});

/** The budgets that apply to a user or a session (docs/budgets.md). */
export const UsageReport = z.object({ budgets: z.array(BudgetUsage) }).meta({ id: 'UsageReport' });
export type UsageReport = z.infer<typeof UsageReport>;
