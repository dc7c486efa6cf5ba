import { z } from 'zod';

/** What a caller may do: see `hasRole` in src/core/principal.ts. */
export const Role = z.enum(['user', 'operator', 'developer', 'admin'], {
  error: 'must be user, operator, developer or admin',
});
export type Role = z.infer<typeof Role>;

const count = z.int().nonnegative();

/** What may be used up until runs end with `budget_exceeded`. Absent: no budget of this kind. */
export const Budget = z.strictObject({
  tokens: count.optional(),
  /** US dollars, by the price table. */
  cost: z.number().nonnegative().optional(),
  modelCalls: count.optional(),
  toolCalls: count.optional(),
  wallTimeMs: count.optional(),
});
export type Budget = z.infer<typeof Budget>;

/** What one caller may use. Absent: what the server's settings say. */
export const PrincipalLimits = z.strictObject({
  requestsPerMinute: count.optional(),
  concurrentRuns: count.optional(),
  queuedRuns: count.optional(),
  openStreams: count.optional(),
  storedBytes: count.optional(),
  /** For one run, one session, one user and day, one app and day. Days are those of UTC. */
  budgets: z
    .strictObject({
      run: Budget.optional(),
      session: Budget.optional(),
      userDay: Budget.optional(),
      appDay: Budget.optional(),
    })
    .optional(),
});
export type PrincipalLimits = z.infer<typeof PrincipalLimits>;
