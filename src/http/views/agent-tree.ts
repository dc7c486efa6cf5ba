import type { FunctionDeclaration } from '../../core/model.ts';
import type { Agent } from '../../core/runtime.ts';

/** The agent and all below it, each once, parents first. */
export function agentsOf(root: Agent): Agent[] {
  const found = new Set<Agent>();
  const visit = (agent: Agent): void => {
    if (found.has(agent)) return;
    found.add(agent);
    agent.subAgents?.forEach(visit);
  };
  visit(root);
  return [...found];
}

/** The functions an agent declares to its model, as far as they are known without asking a toolset. */
export function functionDeclarationsOf(agent: Agent): FunctionDeclaration[] {
  return (agent.tools ?? []).flatMap((tool) => {
    if (tool.kind === 'toolset') return [];
    return [tool.declaration ?? { name: tool.name, description: tool.description }];
  });
}

/** Names of what an agent may call; a toolset counts as one tool. */
export function toolNamesOf(agent: Agent): string[] {
  return (agent.tools ?? []).map((tool) => tool.name ?? 'toolset');
}
