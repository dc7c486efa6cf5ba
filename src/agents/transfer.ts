import { AppError } from '../base/errors.ts';
import type { JsonObject } from '../base/json.ts';
import type { Agent, RunContext, Tool } from '../core/runtime.ts';
import type { Event } from '../schemas/event.ts';
import { definitionOf } from './definition/llm-definition.ts';
import { transferToolName } from './reserved-names.ts';
import { runSubAgent } from './run-sub-agent.ts';
import { type AgentTree, indexTree } from './tree.ts';

/** The agents that an LLM agent may transfer to: its sub-agents, its parent and its parent's other children, as far as allowed. */
export function transferTargets(agent: Agent, tree: AgentTree): Agent[] {
  const targets = [...(agent.subAgents ?? [])];
  const parent = tree.parentOf(agent);
  if (parent?.kind !== 'llm') return targets;
  if (agent.canTransferToParent !== false) targets.push(parent);
  if (agent.canTransferToPeers !== false) targets.push(...(parent.subAgents ?? []).filter((peer) => peer !== agent));
  return targets;
}

/** The tool by which the model transfers. Throws agent_not_found, with the possible targets, for another name. */
export function transferTool(targets: readonly Agent[]): Tool {
  const names = targets.map(({ name }) => name);
  return {
    kind: 'tool',
    name: transferToolName,
    description: 'Hands the conversation over to another agent that is better suited to answer.',
    declaration: {
      name: transferToolName,
      description: 'Hands the conversation over to another agent that is better suited to answer.',
      parameters: {
        type: 'object',
        properties: { agent_name: { type: 'string', enum: names, description: 'Name of the agent to hand over to.' } },
        required: ['agent_name'],
      },
    },
    run(args, ctx) {
      const name = nameIn(args);
      if (!names.includes(name)) {
        throw new AppError(
          'agent_not_found',
          `There is no agent "${name}" to hand over to. Agents you can hand over to: ${names.join(', ')}`,
        );
      }
      ctx.actions.transferToAgent = name;
      return null;
    },
  };
}

function nameIn(args: JsonObject): string {
  const name = args['agent_name'] ?? args['agentName'];
  return typeof name === 'string' ? name : '';
}

/** The instruction about the transfer targets and when to transfer. */
export function transferText(agent: Agent, targets: readonly Agent[], tree: AgentTree): string {
  const parent = tree.parentOf(agent);
  const list = targets.map(({ name, description }) => `- ${name}: ${description || '(no description)'}`).join('\n');
  const names = targets
    .map(({ name }) => `\`${name}\``)
    .toSorted()
    .join(', ');
  const lines = [
    `You can hand the conversation over to these agents:\n${list}`,
    `If you are the one best suited to answer, answer. If another agent is better suited by its description, call \`${transferToolName}\` with its name and write nothing besides the call.`,
    `The only names \`${transferToolName}\` accepts are ${names}.`,
  ];
  if (parent && targets.includes(parent)) {
    lines.push(`If neither you nor any other of them fits, hand over to your parent agent \`${parent.name}\`.`);
  }
  return lines.join('\n\n');
}

/** Runs the target agent within the same step of the same invocation. */
export const runTransfer = (name: string, ctx: RunContext): AsyncIterable<Event> =>
  runSubAgent(transferTarget(name, ctx), ctx);

/** The agent of this name. Throws `agent_not_found`. */
export function transferTarget(name: string, ctx: RunContext): Agent {
  const target = indexTree(ctx.app.rootAgent).find(name);
  if (!target) throw new AppError('agent_not_found', `Agent "${name}" to hand over to not found`);
  return target;
}

/** The first value that `pick` finds: in the agent itself, then in its ancestors, nearest first. */
export function nearestDefinitionWith<Value>(
  agent: Agent,
  tree: AgentTree,
  pick: (definition: NonNullable<ReturnType<typeof definitionOf>>) => Value | undefined,
): Value | undefined {
  for (let at: Agent | undefined = agent; at; at = tree.parentOf(at)) {
    const definition = definitionOf(at);
    const value = definition && pick(definition);
    if (value !== undefined) return value;
  }
  return undefined;
}
