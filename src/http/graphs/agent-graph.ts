import type { Agent, App, Tool, Toolset } from '../../core/runtime.ts';
import type { AgentGraph, AppTool, GraphEdge, GraphNode, GraphTool } from '../../schemas/extensions.ts';
import { agentsOf } from '../views/agent-tree.ts';

/** Describes the agents of an app for drawing. An agent that stands in two places is two nodes. */
export function agentGraph({ rootAgent, readme }: App): AgentGraph {
  const nodes: GraphNode[] = [];
  const edges: GraphEdge[] = [];
  const visit = (agent: Agent, id: string, above: readonly Agent[]): void => {
    nodes.push(nodeOf(agent, id));
    if (above.includes(agent)) return; // it contains itself: drawn once more, not for ever
    const kind = agent.kind ?? 'custom';
    const members = (agent.subAgents ?? []).map((child) => `${id}/${child.name}`);
    for (const to of members) edges.push({ from: id, to, kind: kind === 'llm' ? 'transfer' : 'contains' });
    edges.push(...orderOf(kind, members));
    for (const child of agent.subAgents ?? []) visit(child, `${id}/${child.name}`, [...above, agent]);
  };
  visit(rootAgent, rootAgent.name, []);
  return { root: rootAgent.name, nodes, edges, ...(readme !== undefined && { readme }) };
}

/** Every tool of every agent, with what it takes. */
export function appTools({ rootAgent }: App): AppTool[] {
  return agentsOf(rootAgent).flatMap((agent) =>
    (agent.tools ?? []).map((tool) => {
      const parameters = tool.kind === 'tool' ? tool.declaration?.parameters : undefined;
      return { agent: agent.name, ...toolOf(tool), ...(parameters && { parameters }) };
    }),
  );
}

function orderOf(kind: GraphNode['kind'], members: readonly string[]): GraphEdge[] {
  if (kind !== 'sequential' && kind !== 'loop') return [];
  const edges: GraphEdge[] = [];
  for (const [index, from] of members.entries()) {
    const to = members[index + 1];
    if (to !== undefined) edges.push({ from, to, kind: 'next' });
  }
  const [first] = members;
  const last = members.at(-1);
  if (kind === 'loop' && first !== undefined && last !== undefined)
    edges.push({ from: last, to: first, kind: 'again' });
  return edges;
}

function nodeOf(agent: Agent, id: string): GraphNode {
  const { name, kind = 'custom', description = '', model, instruction, tools = [] } = agent;
  return {
    id,
    name,
    kind,
    description,
    ...(model !== undefined && { model }),
    ...(instruction !== undefined && { instruction }),
    tools: tools.map(toolOf),
  };
}

function toolOf(tool: Tool | Toolset): GraphTool {
  if (tool.kind === 'toolset') {
    return { name: tool.name ?? 'toolset', kind: 'toolset', description: '', isLongRunning: false, asksFirst: false };
  }
  const { name, description, isLongRunning = false, requireConfirmation = false, customMetadata } = tool;
  const kind = typeof customMetadata?.['agent'] === 'string' ? 'agent' : 'tool';
  return { name, kind, description, isLongRunning, asksFirst: requireConfirmation !== false };
}
