import { AppError } from '../../base/errors.ts';
import type { AgentLoader } from '../../core/runtime.ts';
import type { Services } from '../../core/services.ts';
import { type Budgets, UsageReport } from '../../schemas/budget.ts';
import { type Operation, operation } from '../operation.ts';
import { SessionParams, UserParams } from '../requests/path-params.ts';
import { usageReport } from '../views/usage-report.ts';

interface UsageRoutes {
  readonly loader: AgentLoader;
  readonly services: Services;
  /** Of the operator; those of an app are its own. */
  readonly budgets?: Budgets | undefined;
}

const user = '/apps/{appName}/users/{userId}';
const tag = 'Usage';

/** What is used and left of budgets: an extension (docs/budgets.md). */
export function usageOperations({ loader, services: { sessions, usage }, budgets }: UsageRoutes): Operation[] {
  if (!usage) return [];
  const appBudgets = async (appName: string): Promise<Budgets | undefined> =>
    (await loader.loadAgent(appName)).runConfig?.budgets;
  return [
    operation({
      method: 'GET',
      paths: [`${user}/usage`],
      tag,
      feature: 'usage',
      summary: 'What a user and the app have used of their budgets of today, and what is left',
      params: UserParams,
      access: { role: 'user', user: 'path' },
      response: { schema: UsageReport },
      handle: async ({ params }, { caller }) =>
        usageReport(usage, params, budgets, await appBudgets(params.appName), caller.principal?.limits?.budgets),
    }),
    operation({
      method: 'GET',
      paths: [`${user}/sessions/{sessionId}/usage`],
      tag,
      feature: 'usage',
      summary: 'The same, and what the session has used of its budgets',
      params: SessionParams,
      access: { role: 'user', user: 'path' },
      response: { schema: UsageReport },
      async handle({ params }, { caller }) {
        if (!(await sessions.getSession(params, { numRecentEvents: 1 }))) {
          throw new AppError('session_not_found', `Session not found: ${params.sessionId}`);
        }
        return usageReport(usage, params, budgets, await appBudgets(params.appName), caller.principal?.limits?.budgets);
      },
    }),
  ];
}
