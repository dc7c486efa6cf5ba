import { AppError } from '../base/errors.ts';
import type { Agent } from '../core/runtime.ts';
import { agentNameFault } from '../schemas/names.ts';

/** The agents below a root, by name and by parent. */
export interface AgentTree {
  readonly root: Agent;
  /** All agents, parents before children. */
  readonly agents: readonly Agent[];
  find(name: string): Agent | undefined;
  /** `undefined` for the root, and for agents that are not of this tree. */
  parentOf(agent: Agent): Agent | undefined;
}

const trees = new WeakMap<Agent, AgentTree>();

/** Throws ConfigurationException unless it is a name of letters and digits with single separators, and not `user`. */
export function checkAgentName(name: unknown): asserts name is string {
  const fault = typeof name === 'string' ? agentNameFault(name) : 'must be a text';
  if (fault !== undefined) {
    throw new AppError('ConfigurationException', `Agent name ${JSON.stringify(name)} ${fault}`);
  }
}

/** Throws ConfigurationException when two siblings share a name. */
export function checkSiblings(parent: string, subAgents: readonly Agent[]): void {
  const seen = new Set<string>();
  for (const { name } of subAgents) {
    if (seen.has(name)) {
      throw new AppError('ConfigurationException', `Agent "${parent}" has two sub-agents named "${name}"`);
    }
    seen.add(name);
  }
}

/**
 * The tree below a root agent, made once per root. Throws ConfigurationException for a bad or reserved name, and when a
 * name (or an agent) occurs twice.
 */
export function indexTree(root: Agent): AgentTree {
  const known = trees.get(root);
  if (known) return known;
  const byName = new Map<string, Agent>();
  const parents = new Map<Agent, Agent>();
  const visit = (agent: Agent, parent: Agent | undefined): void => {
    checkAgentName(agent.name);
    if (byName.has(agent.name)) {
      throw new AppError(
        'ConfigurationException',
        `Agent name "${agent.name}" occurs twice below "${root.name}": every agent of a tree needs its own name and one parent`,
      );
    }
    byName.set(agent.name, agent);
    if (parent) parents.set(agent, parent);
    for (const child of agent.subAgents ?? []) visit(child, agent);
  };
  visit(root, undefined);
  const tree: AgentTree = {
    root,
    agents: [...byName.values()],
    find: (name) => byName.get(name),
    parentOf: (agent) => parents.get(agent),
  };
  trees.set(root, tree);
  return tree;
}
