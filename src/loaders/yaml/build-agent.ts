import type { LlmAgentSpec } from '../../agents/definition/llm-spec.ts';
import { llmAgent } from '../../agents/llm-agent.ts';
import { loopAgent, parallelAgent, sequentialAgent } from '../../agents/workflow.ts';
import { didYouMean } from '../../base/closest.ts';
import { AppError } from '../../base/errors.ts';
import { isJsonObject, type JsonObject } from '../../base/json.ts';
import type { Model } from '../../core/model.ts';
import type { Agent } from '../../core/runtime.ts';
import {
  agentClassOf,
  agentConfigs,
  type AgentConfig,
  type AgentRef,
  type LlmAgentConfig,
  SubAgents,
} from '../../schemas/agent-config.ts';
import { keyInAnyCase } from '../../schemas/key-case.ts';
import { isIdentifier } from '../../schemas/names.ts';
import type { AccessLimits } from '../../tools/access-limits.ts';
import { isAgent } from '../code-app.ts';
import type { AgentFile, AgentFiles } from './agent-files.ts';
import { codeExecutorOf } from './build-code-executor.ts';
import { plannerOf } from './build-planner.ts';
import { buildRemoteAgent } from './build-remote-agent.ts';
import { toolsOf } from './build-tools.ts';
import { callbacksOf } from './callbacks.ts';
import { check } from './check.ts';
import { Faults } from './faults.ts';
import { placed } from './placed.ts';
import type { Registry } from './registry.ts';

/** What building the agents of one app needs. */
export interface AgentBuildContext {
  readonly files: AgentFiles;
  readonly registry: Registry;
  readonly allowStdioMcp: boolean;
  readonly limits: AccessLimits;
  /** Called for unknown keys; absent: they are errors. */
  readonly warn: ((message: string) => void) | undefined;
  /** Called for what works in this server and may not in other ADK servers. */
  readonly advise: (message: string) => void;
}

/** Builds the agent of a YAML file and its sub-agents. Throws ConfigurationException with the location of the fault. */
export async function buildAgent(source: AgentFile, context: AgentBuildContext): Promise<Agent> {
  const { yaml } = source;
  const { value } = yaml;
  if (!isJsonObject(value)) throw yaml.fail([], value === null ? 'is empty' : 'must be a mapping of keys to values');
  const written = value[keyInAnyCase(value, 'agentClass') ?? ''] ?? 'LlmAgent';
  const kind = typeof written === 'string' && written.trim() !== '' ? agentClassOf(written.trim()) : 'LlmAgent';
  if (typeof written === 'string' && kind === undefined) return await customAgent(written, source, context);
  if (kind === undefined) throw yaml.fail(['agentClass'], '"agent_class" must be a text');
  const config = check(agentConfigs[kind], { ...withoutClass(value), agentClass: kind }, yaml, {
    warn: context.warn,
  });
  if (!isIdentifier(config.name)) {
    const advice = 'other servers take only letters, digits and "_", and no digit first';
    context.advise(yaml.say(['name'], `"name" ${JSON.stringify(config.name)} is not an identifier: ${advice}`));
  }
  const faults = new Faults();
  const subAgents = await faults.attempt(() => subAgentsOf(config, source, context));
  const agent = await faults.attempt(() => placed(yaml, [], () => make(config, subAgents ?? [], source, context)));
  faults.throwAny();
  return agent as Agent; // there were no faults
}

async function make(
  config: AgentConfig,
  subAgents: Agent[],
  source: AgentFile,
  context: AgentBuildContext,
): Promise<Agent> {
  const { name, description = '' } = config;
  if (config.agentClass === 'LlmAgent' || config.agentClass === undefined) {
    return await buildLlmAgent(config, subAgents, source, context);
  }
  const callbacks = await callbacksOf(config, { registry: context.registry, file: source.yaml });
  if (config.agentClass === 'RemoteA2aAgent') return await buildRemoteAgent(config, callbacks, source, context);
  const spec = { name, description, subAgents, ...callbacks };
  if (config.agentClass === 'SequentialAgent') return sequentialAgent(spec);
  if (config.agentClass === 'ParallelAgent') return parallelAgent(spec);
  const maxIterations = 'maxIterations' in config ? config.maxIterations : undefined;
  return loopAgent({ ...spec, ...(maxIterations !== undefined && { maxIterations }) });
}

async function buildLlmAgent(
  config: LlmAgentConfig,
  subAgents: Agent[],
  source: AgentFile,
  context: AgentBuildContext,
): Promise<Agent> {
  const { registry } = context;
  const file = source.yaml;
  const faults = new Faults();
  const spec: LlmAgentSpec = { name: config.name, instruction: config.instruction, subAgents };
  for (const key of copied) if (config[key] !== undefined) Object.assign(spec, { [key]: config[key] });
  const found = async (work: () => Promise<Partial<LlmAgentSpec>>): Promise<void> =>
    void Object.assign(spec, await faults.attempt(work));
  const agentNamed = (ref: AgentRef, at: readonly PropertyKey[]): Promise<Agent> => agentOf(ref, source, at, context);
  const toolContext = { ...context, file, agentOf: agentNamed };
  await found(async () => ({ tools: await toolsOf(config.tools ?? [], toolContext) }));
  await found(() => callbacksOf(config, { registry, file }));
  await found(async () => {
    const model = await modelOf(config, source, registry);
    return model === undefined ? {} : { model };
  });
  const { codeExecutor, planner } = config;
  if (planner !== undefined) await found(async () => ({ planner: await plannerOf(planner, file, registry) }));
  if (codeExecutor !== undefined) {
    const executor = await faults.attempt(() =>
      placed(file, ['codeExecutor'], () => codeExecutorOf(codeExecutor, registry)),
    );
    if (executor) spec.codeExecutor = executor;
  }
  for (const key of ['inputSchema', 'outputSchema'] as const) {
    const schema = config[key];
    if (schema !== undefined) await found(async () => ({ [key]: await schemaOf(schema, source, key, registry) }));
  }
  faults.throwAny();
  return llmAgent(spec);
}

/** Keys that are options of the same name. */
const copied = [
  'description',
  'globalInstruction',
  'staticInstruction',
  'generateContentConfig',
  'includeContents',
  'disallowTransferToParent',
  'disallowTransferToPeers',
  'maxSteps',
  'script',
  'outputKey',
] as const satisfies readonly (keyof LlmAgentSpec)[];

async function modelOf(
  config: LlmAgentConfig,
  { yaml }: AgentFile,
  registry: Registry,
): Promise<string | Model | undefined> {
  const { model, modelCode } = config;
  const name = model?.trim() === '' ? undefined : model?.trim();
  if (modelCode === undefined) return name;
  if (name !== undefined) throw yaml.fail(['modelCode'], 'either "model" or "model_code", not both');
  return await placed(yaml, ['modelCode'], () => {
    const found = registry.get(modelCode.name, 'model');
    if (isModel(found)) return found;
    throw new AppError('ConfigurationException', `"${modelCode.name}" is not a model`);
  });
}

function isModel(value: unknown): value is Model {
  return typeof value === 'object' && value !== null && 'generate' in value && typeof value.generate === 'function';
}

type SchemaOption = NonNullable<LlmAgentSpec['outputSchema']>;

/** A JSON Schema, or the name of a schema in the registry: `output_schema: { name: Answer }` or `output_schema: Answer`. */
async function schemaOf(
  ref: string | JsonObject,
  { yaml }: AgentFile,
  key: string,
  registry: Registry,
): Promise<SchemaOption> {
  const keys = typeof ref === 'string' ? [] : Object.keys(ref);
  const named = typeof ref === 'string' ? ref : (ref['name'] ?? ref['code']);
  if (keys.length > 1 || typeof named !== 'string') return ref as SchemaOption;
  return await placed(yaml, [key], () => registry.get(named, 'schema') as SchemaOption);
}

async function subAgentsOf(config: AgentConfig, source: AgentFile, context: AgentBuildContext): Promise<Agent[]> {
  const subAgents: Agent[] = [];
  const refs = 'subAgents' in config ? config.subAgents : undefined;
  const faults = new Faults();
  for (const [index, ref] of (refs ?? []).entries()) {
    const agent = await faults.attempt(() => agentOf(ref, source, ['subAgents', index], context));
    if (agent) subAgents.push(agent);
  }
  faults.throwAny();
  return subAgents;
}

async function agentOf(
  ref: AgentRef,
  source: AgentFile,
  at: readonly PropertyKey[],
  context: AgentBuildContext,
): Promise<Agent> {
  const { configPath, code } = ref;
  if ((configPath === undefined) === (code === undefined)) {
    throw source.yaml.fail(at, 'an agent is named by either "config_path" or "code"');
  }
  if (configPath !== undefined) return await buildAgent(await context.files.follow(configPath, source, at), context);
  return await placed(source.yaml, at, () => {
    const found = context.registry.get(code ?? '', 'agent');
    if (isAgent(found)) return found;
    throw new AppError('ConfigurationException', `"${code}" is not an agent`);
  });
}

/** A custom kind of agent: a function of the registry that builds an agent from the keys of the file. */
async function customAgent(name: string, source: AgentFile, context: AgentBuildContext): Promise<Agent> {
  const { yaml } = source;
  const makeIt = context.registry.find(name);
  if (typeof makeIt !== 'function') {
    const hint = didYouMean(name, Object.keys(agentConfigs));
    throw yaml.fail(
      ['agentClass'],
      `unknown agent_class "${name}"${hint}: it is no kind of agent, and no function of the app's registry`,
    );
  }
  const config: JsonObject = isJsonObject(yaml.value) ? withoutClass(yaml.value) : {};
  const key = keyInAnyCase(config, 'subAgents') ?? '';
  const refs = check(SubAgents, config[key], yaml, { at: [key] });
  const subAgents: Agent[] = [];
  for (const [index, ref] of (refs ?? []).entries()) {
    subAgents.push(await agentOf(ref, source, [key, index], context));
  }
  const { [key]: _, ...rest } = config;
  return await placed(yaml, ['agentClass'], async () => {
    const made: unknown = await makeIt({ ...rest, subAgents });
    if (isAgent(made)) return made;
    throw new AppError('ConfigurationException', `"${name}" made no agent`);
  });
}

function withoutClass(value: JsonObject): JsonObject {
  const { [keyInAnyCase(value, 'agentClass') ?? '']: _, ...rest } = value;
  return rest;
}
