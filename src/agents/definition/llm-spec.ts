import type { CodeExecutor } from '../../core/code-executor.ts';
import type { GenerateConfig, Model } from '../../core/model.ts';
import type {
  AfterAgentCallback,
  AfterModelCallback,
  AfterToolCallback,
  Agent,
  BeforeAgentCallback,
  BeforeModelCallback,
  BeforeToolCallback,
  MaybePromise,
  OneOrMany,
  OnModelErrorCallback,
  OnToolErrorCallback,
  ReadonlyContext,
  Tool,
  Toolset,
} from '../../core/runtime.ts';
import type { Content } from '../../schemas/content.ts';
import type { ScriptRule } from '../../schemas/script.ts';
import type { Example } from '../../tools/built-in/examples.ts';
import type { SchemaSource } from '../../tools/schema-types.ts';
import type { Planner } from './planners.ts';

/** A template in which `{name}` is a state value, or a function whose text is used verbatim. */
export type Instruction = string | ((ctx: ReadonlyContext) => MaybePromise<string>);

/** Options of an agent led by a model. Only `name` is required. */
export interface LlmAgentSpec {
  name: string;
  /** What the agent does, for the models that may transfer to it. */
  description?: string;
  /** A name for the model registry, or a model. Absent: that of the nearest ancestor with one. */
  model?: string | Model;
  /** Scripted replies, used when the model is `scripted` or lacks credentials. */
  script?: readonly ScriptRule[];
  instruction?: Instruction;
  /** Constant text at the start of each request, which providers can cache; `instruction` then moves into the contents. */
  staticInstruction?: string | Content;
  /** For every agent of the tree; only the root's counts. */
  globalInstruction?: Instruction;
  tools?: readonly (Tool | Toolset)[];
  subAgents?: readonly Agent[];
  /** Base of every request. `tools`, `systemInstruction` and `responseSchema` have options of their own and are refused. */
  generateContentConfig?: GenerateConfig;
  /** `none`: the model sees the current turn only. */
  includeContents?: 'default' | 'none';
  /** The agent's arguments when a model calls it as a tool. */
  inputSchema?: SchemaSource;
  /** The schema of the final answer. */
  outputSchema?: SchemaSource;
  /** State key for the text (with `outputSchema`: the value) of the final answer. */
  outputKey?: string;
  /** The most steps (model calls with their tools) per run of the agent; it then ends without an error. Absent: no limit. */
  maxSteps?: number;
  disallowTransferToParent?: boolean;
  disallowTransferToPeers?: boolean;
  /** Sample conversations shown to the model, or a function that finds some for the user's message. */
  examples?: readonly Example[] | ((query: string) => MaybePromise<readonly Example[]>);
  planner?: Planner;
  codeExecutor?: CodeExecutor;
  beforeAgent?: OneOrMany<BeforeAgentCallback>;
  afterAgent?: OneOrMany<AfterAgentCallback>;
  beforeModel?: OneOrMany<BeforeModelCallback>;
  afterModel?: OneOrMany<AfterModelCallback>;
  onModelError?: OneOrMany<OnModelErrorCallback>;
  beforeTool?: OneOrMany<BeforeToolCallback>;
  afterTool?: OneOrMany<AfterToolCallback>;
  onToolError?: OneOrMany<OnToolErrorCallback>;
}
