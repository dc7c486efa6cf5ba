import { z } from 'zod';
import type { AgentLoader } from '../../core/runtime.ts';
import { AgentGraph, AppTool, defaultToolUser, ToolOutcome, ToolTrial } from '../../schemas/extensions.ts';
import type { HttpDeps } from '../deps.ts';
import { agentGraph, appTools } from '../graphs/agent-graph.ts';
import { type Operation, operation } from '../operation.ts';
import { clientSignal } from '../requests/client-signal.ts';
import { AppParams } from '../requests/path-params.ts';
import { openRequests } from '../views/open-requests.ts';

const tag = 'Apps';

/** Agents and tools of an app as data: extensions of ours (docs/extensions.md). */
export function agentViewOperations(loader: AgentLoader): Operation[] {
  return [
    operation({
      method: 'GET',
      paths: ['/apps/{appName}/agent-graph'],
      tag,
      feature: 'agent-graph',
      access: { role: 'developer', user: 'none' },
      summary: 'Describe the agents of an app and how turns pass between them',
      params: AppParams,
      response: { schema: AgentGraph },
      handle: async ({ params }) => agentGraph(await loader.loadAgent(params.appName)),
    }),
    operation({
      method: 'GET',
      paths: ['/apps/{appName}/tools'],
      tag,
      feature: 'tools',
      access: { role: 'developer', user: 'none' },
      summary: 'List the tools of all agents of an app with what they take',
      params: AppParams,
      response: { schema: z.object({ tools: z.array(AppTool) }) },
      handle: async ({ params }) => ({ tools: appTools(await loader.loadAgent(params.appName)) }),
    }),
  ];
}

/** Tools by themselves. Absent where the server has no way to run them. */
export function toolRunOperations({ tryTool }: Pick<HttpDeps, 'tryTool'>): Operation[] {
  if (!tryTool) return [];
  return [
    operation({
      method: 'POST',
      paths: ['/apps/{appName}/tools/run'],
      tag,
      feature: 'run-tool',
      access: { role: 'developer', user: 'body' },
      summary: 'Run one tool without a model; nothing it changes is kept',
      params: AppParams,
      body: ToolTrial,
      response: { schema: ToolOutcome },
      async handle({ params, body }, { reply, caller }): Promise<ToolOutcome> {
        const userId = body.userId ?? caller.principal?.userId ?? defaultToolUser;
        const trial = { ...body, ...params, userId };
        const startedAt = performance.now();
        const { response, thrown, actions, events } = await tryTool(trial, clientSignal(reply));
        return {
          response: response?.response ?? null,
          stateDelta: actions?.stateDelta ?? {},
          artifacts: actions?.artifactDelta ?? {},
          requests: openRequests(events),
          ms: performance.now() - startedAt,
          ...(thrown && { thrown }),
        };
      },
    }),
  ];
}
