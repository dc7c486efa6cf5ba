import { z } from 'zod';
import type { ErrorPolicy } from '../../base/error-policy.ts';
import { AppError, describeError } from '../../base/errors.ts';
import { yieldWhenDue } from '../../base/event-loop.ts';
import type { AgentLoader, App } from '../../core/runtime.ts';
import { lenient } from '../../schemas/lenient.ts';
import { AppSummary } from '../../schemas/records.ts';
import { type Operation, operation } from '../operation.ts';
import { AppParams, QueryFlag } from '../requests/path-params.ts';
import { agentsOf, functionDeclarationsOf } from '../views/agent-tree.ts';

const tag = 'Apps';
const ListQuery = lenient({ detailed: QueryFlag.optional(), relativePath: z.unknown().optional() });

interface AppRoutes {
  readonly loader: AgentLoader;
  readonly errors: ErrorPolicy;
}

export function appOperations({ loader, errors }: AppRoutes): Operation[] {
  return [
    operation({
      method: 'GET',
      paths: ['/list-apps'],
      tag,
      access: { role: 'user', user: 'none' },
      summary: 'List the apps: their names, or more about each with detailed=true',
      query: ListQuery,
      response: { schema: z.union([z.array(z.string()), z.object({ apps: z.array(AppSummary) })]) },
      async handle({ query }, { caller }) {
        const names = (await loader.listAgents()).filter((name) => caller.mayUse(name));
        if (!query.detailed) return names;
        const apps: AppSummary[] = []; // what is wrong with an app, and its reloads, only for its developers
        for (const name of names) {
          const { error, reloads, ...summary } = await summaryOf(loader, name, errors); // one by one: each may load code
          if (caller.may('app-details'))
            apps.push({ ...summary, ...(error !== undefined && { error }), ...(reloads && { reloads }) });
          else apps.push({ ...summary, ...(error !== undefined && { error: 'This app does not work as it is' }) });
          await yieldWhenDue();
        }
        return { apps };
      },
    }),
  ];
}

/** How an app is made. */
export function appInfoOperations(loader: AgentLoader): Operation[] {
  return [
    operation({
      method: 'GET',
      paths: ['/apps/{appName}/app-info', '/dev/apps/{appName}/app-info'],
      tag,
      access: { role: 'developer', user: 'none' },
      summary: 'Describe an app and its agents',
      params: AppParams,
      response: { schema: AppInfo },
      handle: async ({ params }) => appInfo(await loader.loadAgent(params.appName)),
    }),
  ];
}

const describe = ({ name, rootAgent, language = 'typescript' }: App) => ({
  name,
  rootAgentName: rootAgent.name,
  description: rootAgent.description ?? '',
  language,
  isComputerUse: false,
});

async function summaryOf(loader: AgentLoader, name: string, errors: ErrorPolicy): Promise<AppSummary> {
  try {
    const app = await loader.loadAgent(name);
    const failure = loader.failureOf?.(name); // of an edit; what answers is the version before it
    const reloads = loader.reloadsOf?.(name) ?? [];
    return {
      ...describe(app),
      name,
      ...(failure && { error: describeError(errors.report(failure)).message }),
      ...(reloads.length > 0 && { reloads: [...reloads] }),
    };
  } catch (error) {
    const unknown = { rootAgentName: '', description: '', language: 'typescript', isComputerUse: false } as const;
    return { name, ...unknown, error: describeError(errors.report(error)).message };
  }
}

const AgentInfo = z.object({
  name: z.string(),
  description: z.string(),
  instruction: z.string(),
  tools: z.array(z.object({ functionDeclarations: z.array(z.unknown()) })),
  sub_agents: z.array(z.string()),
});
const AppInfo = AppSummary.omit({ error: true, reloads: true }).extend({ agents: z.record(z.string(), AgentInfo) });

function appInfo(app: App): z.infer<typeof AppInfo> {
  if (app.rootAgent.kind !== 'llm') {
    throw new AppError('invalid_request', `The root agent of app "${app.name}" is not an LLM agent`);
  }
  const agents: Record<string, z.infer<typeof AgentInfo>> = {};
  for (const agent of agentsOf(app.rootAgent)) {
    agents[agent.name] = {
      name: agent.name,
      description: agent.description ?? '',
      instruction: agent.instruction ?? '',
      tools: functionDeclarationsOf(agent).map((declaration) => ({ functionDeclarations: [declaration] })),
      sub_agents: (agent.subAgents ?? []).map((child) => child.name),
    };
  }
  return { ...describe(app), agents };
}
