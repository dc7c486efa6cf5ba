import { z } from 'zod';
import type { AgentLoader } from '../../core/runtime.ts';
import { AgentGraph, AppTool } from '../../schemas/extensions.ts';
import { agentGraph, appTools } from '../graphs/agent-graph.ts';
import { type Operation, operation } from '../operation.ts';
import { AppParams } from '../path-params.ts';

const tag = 'Apps';

/** Agents and tools of an app as data: extensions of ours (docs/extensions.md). */
export function agentViewOperations(loader: AgentLoader): Operation[] {
  return [
    operation({
      method: 'GET',
      paths: ['/apps/{appName}/agent-graph'],
      tag,
      feature: 'agent-graph',
      summary: 'Describe the agents of an app and how turns pass between them',
      params: AppParams,
      answer: { schema: AgentGraph },
      handle: async ({ params }) => agentGraph(await loader.loadAgent(params.appName)),
    }),
    operation({
      method: 'GET',
      paths: ['/apps/{appName}/tools'],
      tag,
      feature: 'tools',
      summary: 'List the tools of all agents of an app with what they take',
      params: AppParams,
      answer: { schema: z.object({ tools: z.array(AppTool) }) },
      handle: async ({ params }) => ({ tools: appTools(await loader.loadAgent(params.appName)) }),
    }),
  ];
}
