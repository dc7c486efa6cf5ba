import { z } from 'zod';
import { Budgets } from './budget.ts';

/** What a caller may do: see `hasRole` in src/core/principal.ts. */
export const Role = z.enum(['user', 'operator', 'developer', 'admin'], {
  error: 'must be user, operator, developer or admin',
});
export type Role = z.infer<typeof Role>;

const count = z.int().nonnegative();

/** What one caller may use. Absent: what the server's settings say. */
export const PrincipalLimits = z.strictObject({
  requestsPerMinute: count.optional(),
  concurrentRuns: count.optional(),
  queuedRuns: count.optional(),
  openStreams: count.optional(),
  storedBytes: count.optional(),
  budgets: Budgets.optional(),
});
export type PrincipalLimits = z.infer<typeof PrincipalLimits>;
