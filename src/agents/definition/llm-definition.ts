import { AppError } from '../../base/errors.ts';
import { checkTimeLimit } from '../../base/timers.ts';
import type { CodeExecutor } from '../../core/code-executor.ts';
import type { GenerateConfig, Model } from '../../core/model.ts';
import type {
  AfterModelCallback,
  AfterToolCallback,
  Agent,
  AgentCallbacks,
  BeforeModelCallback,
  BeforeToolCallback,
  OneOrMany,
  OnModelErrorCallback,
  OnToolErrorCallback,
  Tool,
  Toolset,
} from '../../core/runtime.ts';
import { scriptedModel } from '../../models/scripted/scripted.ts';
import type { Content } from '../../schemas/content.ts';
import { type ValueSchema, valueSchema } from '../../tools/value-schema.ts';
import { checkAgentName, checkSiblings } from '../tree.ts';
import { type InstructionText, instructionText } from './instructions.ts';
import type { LlmAgentSpec } from './llm-spec.ts';
import type { Planner } from './planners.ts';

/** The callbacks around models and tools, in call order. */
export interface LlmCallbacks {
  readonly beforeModel: readonly BeforeModelCallback[];
  readonly afterModel: readonly AfterModelCallback[];
  readonly onModelError: readonly OnModelErrorCallback[];
  readonly beforeTool: readonly BeforeToolCallback[];
  readonly afterTool: readonly AfterToolCallback[];
  readonly onToolError: readonly OnToolErrorCallback[];
}

/** A checked LlmAgentSpec with all defaults applied. */
export interface LlmDefinition {
  readonly name: string;
  readonly description: string;
  readonly model: string | Model | undefined;
  readonly scripted: Model | undefined;
  readonly instruction: InstructionText | undefined;
  readonly globalInstruction: InstructionText | undefined;
  readonly staticInstruction: string;
  readonly examples: LlmAgentSpec['examples'];
  readonly tools: readonly (Tool | Toolset)[];
  readonly config: GenerateConfig;
  readonly currentTurnOnly: boolean;
  readonly inputSchema: ValueSchema<unknown> | undefined;
  readonly outputSchema: ValueSchema<unknown> | undefined;
  readonly outputKey: string | undefined;
  readonly maxSteps: number;
  readonly planner: Planner | undefined;
  readonly codeExecutor: CodeExecutor | undefined;
  readonly canTransferToParent: boolean;
  readonly canTransferToPeers: boolean;
  readonly callbacks: LlmCallbacks;
  readonly agentCallbacks: AgentCallbacks;
  /** Creates helper agents, such as one that only searches. */
  readonly makeAgent: (spec: LlmAgentSpec) => Agent;
}

const definitions = new WeakMap<Agent, LlmDefinition>();

/** The definition of an LLM agent; `undefined` for other agents. */
export const definitionOf = (agent: Agent | undefined): LlmDefinition | undefined => agent && definitions.get(agent);

export function rememberDefinition(agent: Agent, definition: LlmDefinition): void {
  definitions.set(agent, definition);
}

/** Checks the options. Throws ConfigurationException for an invalid one. */
export function definitionFrom(spec: LlmAgentSpec, makeAgent: LlmDefinition['makeAgent']): LlmDefinition {
  const { name, subAgents = [], maxSteps = Number.POSITIVE_INFINITY } = spec;
  checkAgentName(name);
  checkSiblings(name, subAgents);
  checkTools(name, spec.tools ?? []);
  if (spec.maxSteps !== undefined && !(Number.isInteger(maxSteps) && maxSteps > 0)) {
    throw new AppError('ConfigurationException', `maxSteps of "${name}" must be a whole number, 1 or more`);
  }
  return {
    name,
    description: spec.description ?? '',
    model: spec.model === '' ? undefined : spec.model,
    scripted: spec.script && scriptedModel(spec.script),
    instruction: instructionText(spec.instruction),
    globalInstruction: instructionText(spec.globalInstruction),
    staticInstruction: plainText(name, spec.staticInstruction),
    examples: spec.examples,
    tools: spec.tools ?? [],
    config: checkedConfig(name, spec.generateContentConfig ?? {}),
    currentTurnOnly: spec.includeContents === 'none',
    inputSchema: spec.inputSchema && valueSchema(spec.inputSchema),
    outputSchema: spec.outputSchema && valueSchema(spec.outputSchema),
    outputKey: spec.outputKey,
    maxSteps,
    planner: spec.planner,
    codeExecutor: spec.codeExecutor,
    canTransferToParent: spec.disallowTransferToParent !== true,
    canTransferToPeers: spec.disallowTransferToPeers !== true,
    callbacks: {
      beforeModel: listOf(spec.beforeModel),
      afterModel: listOf(spec.afterModel),
      onModelError: listOf(spec.onModelError),
      beforeTool: listOf(spec.beforeTool),
      afterTool: listOf(spec.afterTool),
      onToolError: listOf(spec.onToolError),
    },
    agentCallbacks: { beforeAgent: listOf(spec.beforeAgent), afterAgent: listOf(spec.afterAgent) },
    makeAgent,
  };
}

function listOf<Item>(items: OneOrMany<Item> | undefined): readonly Item[] {
  if (items === undefined) return [];
  return Array.isArray(items) ? (items as readonly Item[]) : [items as Item];
}

const ownOptions: Readonly<Record<string, string>> = {
  tools: 'tools',
  systemInstruction: 'instruction',
  responseSchema: 'outputSchema',
  responseJsonSchema: 'outputSchema',
};

function checkedConfig(name: string, config: GenerateConfig): GenerateConfig {
  for (const key of Object.keys(config)) {
    const camel = key.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
    const option = Object.hasOwn(ownOptions, camel) ? ownOptions[camel] : undefined;
    if (option !== undefined && config[key] !== undefined) {
      throw new AppError(
        'ConfigurationException',
        `generateContentConfig of "${name}" may not set "${key}": use the agent's option "${option}"`,
      );
    }
  }
  return { ...config, labels: { ...config.labels, adk_agent_name: name } };
}

function checkTools(agent: string, tools: readonly (Tool | Toolset)[]): void {
  const seen = new Set<string>();
  for (const tool of tools) {
    if (tool?.kind === 'toolset') continue;
    if (tool?.kind !== 'tool' || typeof tool.name !== 'string') {
      throw new AppError('ConfigurationException', `Agent "${agent}" has a tool that is neither a tool nor a toolset`);
    }
    checkTimeLimit(`timeoutMs of tool "${tool.name}"`, tool.timeoutMs);
    if (seen.has(tool.name)) {
      throw new AppError('ConfigurationException', `Agent "${agent}" has two tools named "${tool.name}"`);
    }
    seen.add(tool.name);
  }
}

function plainText(agent: string, instruction: string | Content | undefined): string {
  if (instruction === undefined || typeof instruction === 'string') return instruction ?? '';
  return instruction.parts
    .map(({ text }) => {
      if (text !== undefined) return text;
      throw new AppError('ConfigurationException', `staticInstruction of "${agent}" may hold text only`);
    })
    .join('\n');
}
