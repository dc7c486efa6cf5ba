import type { Agent } from '../../core/runtime.ts';

/** Where a turn enters a piece of a graph, and where it leaves. */
export interface Ends {
  readonly entries: readonly string[];
  readonly exits: readonly string[];
}

/** Whether the agent only decides the order of its sub-agents, so that it is drawn around them. */
export const isWorkflow = (agent: Agent): boolean =>
  (agent.kind === 'sequential' || agent.kind === 'loop' || agent.kind === 'parallel') &&
  (agent.subAgents?.length ?? 0) > 0;

/** Links the members of a workflow: one after the other, in a circle, or not at all. */
export function linkMembers(
  kind: Agent['kind'],
  members: readonly Ends[],
  link: (from: string, to: string) => void,
): Ends {
  const join = (from: Ends | undefined, to: Ends | undefined): void => {
    for (const exit of from?.exits ?? []) for (const entry of to?.entries ?? []) link(exit, entry);
  };
  if (kind === 'parallel') {
    return {
      entries: members.flatMap((member) => member.entries),
      exits: members.flatMap((member) => member.exits),
    };
  }
  for (let index = 1; index < members.length; index += 1) join(members[index - 1], members[index]);
  if (kind === 'loop') join(members.at(-1), members[0]);
  return { entries: members[0]?.entries ?? [], exits: members.at(-1)?.exits ?? [] };
}
