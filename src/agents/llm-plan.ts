import { AppError, errorText } from '../base/errors.ts';
import type { Model, ModelRegistry } from '../core/model.ts';
import type { Agent, RunContext, Tool, Toolset } from '../core/runtime.ts';
import { identityText, type InstructionText } from './definition/instructions.ts';
import { definitionOf, type LlmDefinition } from './definition/llm-definition.ts';
import { withSearchAgents } from './search-agents.ts';
import { listTools } from './tool-calls/list-tools.ts';
import { type StepTools, stepTools } from './tool-calls/step-tools.ts';
import { nearestDefinitionWith, transferTargets, transferText, transferTool } from './transfer.ts';
import { indexTree } from './tree.ts';

/** The fixed parts of every request of an agent below one root, computed once. */
export interface LlmPlan {
  readonly agent: Agent;
  readonly definition: LlmDefinition;
  readonly globalInstruction: InstructionText | undefined;
  /** The agent's name and description for the model; empty when the agent cannot transfer. */
  readonly identity: string;
  readonly transferText: string;
  /** The agent's tools in list order, the transfer tool first. */
  readonly tools: readonly (Tool | Toolset)[];
  /** The same, indexed; absent when a toolset has to be listed for each request. */
  readonly fixedTools: StepTools | undefined;
  /** The model's name or the model itself; `undefined` when no agent in the chain has one. */
  readonly model: string | Model | undefined;
}

const plans = new WeakMap<Agent, WeakMap<Agent, LlmPlan>>();

/** The plan of the context's agent. Throws ConfigurationException when its tree is invalid. */
export function planFor(definition: LlmDefinition, ctx: RunContext): LlmPlan {
  const root = ctx.app.rootAgent;
  let byRoot = plans.get(ctx.agent);
  if (!byRoot) plans.set(ctx.agent, (byRoot = new WeakMap()));
  let plan = byRoot.get(root);
  if (!plan) byRoot.set(root, (plan = makePlan(ctx.agent, definition, root)));
  return plan;
}

function makePlan(agent: Agent, definition: LlmDefinition, root: Agent): LlmPlan {
  const tree = indexTree(root);
  const targets = transferTargets(agent, tree);
  const canTransfer = targets.length > 0;
  const model = nearestDefinitionWith(agent, tree, (found) => found.model);
  const listed = canTransfer ? [transferTool(targets), ...definition.tools] : definition.tools;
  const tools = withSearchAgents(listed, model, definition);
  return {
    agent,
    definition,
    globalInstruction: definitionOf(root)?.globalInstruction,
    identity: canTransfer ? identityText(definition.name, definition.description) : '',
    transferText: canTransfer ? transferText(agent, targets, tree) : '',
    tools,
    fixedTools: tools.some(({ kind }) => kind === 'toolset') ? undefined : stepTools(definition.name, tools),
    model,
  };
}

/** The model to call for the agent. Throws ConfigurationException when it has none, or an unknown one. */
export function modelFor(plan: LlmPlan, ctx: Pick<RunContext, 'models'>): Model {
  const { model, definition } = plan;
  if (typeof model === 'object') return model;
  const { scripted } = definition;
  if (scripted && (model === undefined || model === 'scripted' || !ctx.models.isConfigured(model))) return scripted;
  if (model === undefined) {
    throw new AppError('ConfigurationException', `Agent "${definition.name}" has no model, nor has any agent above it`);
  }
  return ctx.models.resolve(model);
}

/** The configuration faults of all agents below a root, found without a network call. Throws for an invalid tree. */
export async function faultsBelow(root: Agent, models: ModelRegistry): Promise<string[]> {
  const faults: string[] = [];
  for (const agent of indexTree(root).agents) {
    const definition = definitionOf(agent);
    if (!definition) continue;
    const note = (error: unknown): void => {
      const text = errorText(error);
      faults.push(text.includes(`"${agent.name}"`) || /^\S+:\d+:/.test(text) ? text : `Agent "${agent.name}": ${text}`);
    };
    try {
      modelFor(makePlan(agent, definition, root), { models });
    } catch (error) {
      note(error);
    }
    for (const tool of agent.tools ?? []) if (tool.kind === 'toolset') await tool.check?.().catch(note);
  }
  return faults;
}

/** The plan's tools, with toolsets listed. */
export const toolsOf = (plan: LlmPlan, ctx: RunContext): StepTools | Promise<StepTools> =>
  plan.fixedTools ?? listTools(plan.definition.name, plan.tools, ctx);
