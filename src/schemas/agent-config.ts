import { z } from 'zod';
import { Flag, GenerateContentConfig } from './generate-content-config.ts';
import { anyCaseObject } from './key-case.ts';
import { agentNameFault, agentNamePattern } from './names.ts';
import { scriptSchema } from './script.ts';

const jsonObject = z.record(z.string(), z.unknown());

const AgentName = z
  .string()
  .regex(agentNamePattern, { error: ({ input }) => agentNameFault(String(input)) })
  .refine((name) => name !== 'user', { error: ({ input }) => agentNameFault(String(input)) })
  .describe('Unique in its tree. Authors of events are named by it.');

/** Marks what may also be written as a text alone, for the JSON Schema. */
export const orTextMark = 'orText';

const orText = <Schema extends z.ZodType>(key: string, schema: Schema): z.ZodPreprocess<Schema> =>
  z.preprocess((value) => (typeof value === 'string' ? { [key]: value } : value), schema).meta({ [orTextMark]: true });

/** Another agent: a YAML file of the same app, or an agent of the app's registry. */
export const AgentRef = orText(
  'configPath',
  anyCaseObject({
    configPath: z
      .string()
      .min(1)
      .optional()
      .describe('A YAML file, relative to this one, within the folder of the app'),
    code: z.string().min(1).optional().describe("The name of an agent in the app's registry"),
    name: z.string().optional(),
  }),
);
export type AgentRef = z.infer<typeof AgentRef>;

/** Something of the app's registry, by name. */
export const CodeRef = orText('name', anyCaseObject({ name: z.string().min(1) }));
export type CodeRef = z.infer<typeof CodeRef>;

const Callbacks = z.array(CodeRef).optional().describe("Functions of the app's registry, asked in this order");

/** A tool: built in, or of the app's registry; `args` configure it. */
export const ToolConfig = orText('name', anyCaseObject({ name: z.string().min(1), args: jsonObject.optional() }));
export type ToolConfig = z.infer<typeof ToolConfig>;

/** BuiltInCodeExecutor, JavaScriptSandbox, PythonSandbox, CodeSandbox, or one of the app's registry; `args` configure it. */
export const CodeExecutorConfig = orText(
  'name',
  anyCaseObject({ name: z.string().min(1), args: jsonObject.optional() }),
);
export type CodeExecutorConfig = z.infer<typeof CodeExecutorConfig>;

/** PlanReActPlanner, BuiltInPlanner with `thinking_config`, or one of the app's registry; `args` configure it. */
export const PlannerConfig = orText('name', anyCaseObject({ name: z.string().min(1), args: jsonObject.optional() }));
export type PlannerConfig = z.infer<typeof PlannerConfig>;

/** A JSON Schema as it stands, or the name of one (or of a zod schema) in the registry. */
const SchemaRef = z.union([z.string().min(1), jsonObject]);

/** The agents below an agent, in their order. */
export const SubAgents = z.array(AgentRef).optional();

const shared = {
  name: AgentName,
  description: z.string().optional().describe('What other agents are told about this one'),
  subAgents: SubAgents,
  beforeAgentCallbacks: Callbacks,
  afterAgentCallbacks: Callbacks,
};

export const LlmAgentConfig = anyCaseObject({
  agentClass: z.literal('LlmAgent').optional(),
  ...shared,
  model: z.string().optional().describe('Absent: that of the nearest LLM agent above'),
  modelCode: CodeRef.optional().describe("A model object of the app's registry, in the place of a name"),
  instruction: z.string().min(1).describe('What the agent is to do. {key} is replaced by the state of that name.'),
  globalInstruction: z.string().optional().describe('For all agents below; counts at the root only'),
  staticInstruction: z.union([z.string(), jsonObject]).optional(),
  tools: z.array(ToolConfig).optional(),
  generateContentConfig: GenerateContentConfig.optional(),
  includeContents: z.preprocess(
    (value) => (typeof value === 'string' ? value.toLowerCase() : value),
    z.enum(['default', 'none']).optional(),
  ),
  disallowTransferToParent: Flag.optional(),
  disallowTransferToPeers: Flag.optional(),
  inputSchema: SchemaRef.optional(),
  outputSchema: SchemaRef.optional(),
  outputKey: z.string().optional().describe('The state key the final text is stored under'),
  maxSteps: z.number().int().positive().optional().describe('Model calls allowed in one turn'),
  codeExecutor: CodeExecutorConfig.optional().describe('What runs the code the model writes'),
  planner: PlannerConfig.optional().describe('How the model plans before it acts'),
  beforeModelCallbacks: Callbacks,
  afterModelCallbacks: Callbacks,
  onModelErrorCallbacks: Callbacks,
  beforeToolCallbacks: Callbacks,
  afterToolCallbacks: Callbacks,
  onToolErrorCallbacks: Callbacks,
  script: scriptSchema()
    .optional()
    .describe('Replies to use while the model has no credentials, or with "model: scripted"'),
});
export type LlmAgentConfig = z.infer<typeof LlmAgentConfig>;

export const SequentialAgentConfig = anyCaseObject({ agentClass: z.literal('SequentialAgent'), ...shared });
export const ParallelAgentConfig = anyCaseObject({ agentClass: z.literal('ParallelAgent'), ...shared });
export const LoopAgentConfig = anyCaseObject({
  agentClass: z.literal('LoopAgent'),
  ...shared,
  maxIterations: z.number().int().positive().optional().describe('Absent: until an agent escalates'),
});
export const RemoteAgentConfig = anyCaseObject({
  agentClass: z.literal('RemoteA2aAgent'),
  name: AgentName,
  description: z.string().optional().describe("What other agents are told about it; absent: its card's"),
  agentCard: z
    .string()
    .min(1)
    .describe(
      'The address of the agent card (ends in .json) or of its server, or a JSON file in the folder of the app',
    ),
  headers: z.record(z.string(), z.string()).optional().describe('Sent with every request'),
  timeout: z.number().positive().optional().describe('Seconds without a sign of the agent before it is given up'),
  beforeAgentCallbacks: Callbacks,
  afterAgentCallbacks: Callbacks,
});
export type RemoteAgentConfig = z.infer<typeof RemoteAgentConfig>;

/** The agent kinds YAML knows, by the value of `agent_class`. */
export const agentConfigs = {
  LlmAgent: LlmAgentConfig,
  SequentialAgent: SequentialAgentConfig,
  ParallelAgent: ParallelAgentConfig,
  LoopAgent: LoopAgentConfig,
  RemoteA2aAgent: RemoteAgentConfig,
} as const;
export type AgentClass = keyof typeof agentConfigs;
export type AgentConfig = z.infer<(typeof agentConfigs)[AgentClass]>;

/** The agent class a text stands for: as it is, or with the package name Java and Python write in front. */
export function agentClassOf(text: string): AgentClass | undefined {
  const simple = text
    .replace(/^(?:com\.)?google\.adk\.agents\.(?:\w+\.)?/, '')
    .replace(/^RemoteA2AAgent$/, 'RemoteA2aAgent');
  return Object.hasOwn(agentConfigs, simple) ? (simple as AgentClass) : undefined;
}
