import type { AppError } from '../base/errors.ts';
import type { JsonObject } from '../base/json.ts';
import type { Content, Part } from '../schemas/content.ts';
import type { Event, EventActions, ToolConfirmation } from '../schemas/event.ts';
import type { MemoryEntry } from '../schemas/records.ts';
import type { RunConfig } from '../schemas/run.ts';
import type { Session } from '../schemas/session.ts';
import type { CredentialExchanger } from './auth.ts';
import type { CustomMetrics } from './custom-metric.ts';
import type {
  ContextCacheConfig,
  FunctionDeclaration,
  LiveInput,
  ModelRegistry,
  ModelRequest,
  ModelResponse,
  SideAnswer,
  SideQuestion,
} from './model.ts';
import type { EventsSummarizer, Services } from './services.ts';
import type { StateView } from './state.ts';

// The nouns of a run refer to one another: agents, contexts, apps, plugins and tools. They share this file for that.

export type MaybePromise<T> = T | Promise<T>;
export type OneOrMany<T> = T | readonly T[];

/** Something that can take a turn: any object with a `name` and a `run`. The rest tells agents and people about it. */
export interface Agent {
  readonly name: string;
  /** What other agents and the model are told about it. */
  readonly description?: string;
  readonly kind?: 'llm' | 'sequential' | 'parallel' | 'loop' | 'remote' | 'custom';
  readonly subAgents?: readonly Agent[];
  /** For views: what the agent may call, and which model leads it. */
  readonly tools?: readonly (Tool | Toolset)[];
  readonly model?: string;
  readonly instruction?: string;
  readonly callbacks?: AgentCallbacks;
  /** What the agent takes as the arguments of a call when it is used as a tool (JSON Schema), and what it answers with. */
  readonly inputSchema?: JsonObject;
  readonly outputSchema?: JsonObject;
  /** False: the agent may not be handed the next user turn, nor hand over to its parent (its peers). */
  readonly canTransferToParent?: boolean;
  readonly canTransferToPeers?: boolean;
  /** Does one turn. Stops soon after `ctx.signal` aborts. Called by the runtime, which also runs the callbacks. */
  run(ctx: RunContext): AsyncIterable<Event>;
  /** The same over a two-way connection; absent: live runs are refused as `not_supported`. */
  runLive?(ctx: RunContext, input: AsyncIterable<LiveInput>): AsyncIterable<Event>;
  /** Puts a tool's question to the model that leads the agent, beside its turn. It counts as a model call of the run. */
  askModel?(question: SideQuestion, ctx: RunContext, signal: AbortSignal): Promise<SideAnswer>;
  /** Releases what the agent holds (toolsets, connections). Called when its runner closes or its app is reloaded. */
  close?(): Promise<void>;
}

/** An app: a root agent with a name and what belongs to all its runs. */
export interface App {
  readonly name: string;
  readonly rootAgent: Agent;
  readonly plugins?: readonly Plugin[];
  readonly eventsCompaction?: EventsCompactionConfig;
  readonly contextCache?: ContextCacheConfig;
  readonly resumability?: { readonly isResumable: boolean };
  /** How runs of this app go. Requests can only tighten its limits, and it those the operator set. */
  readonly runConfig?: RunConfig;
  /** Metrics of its own, by name, for its evaluations. */
  readonly metrics?: CustomMetrics;
  /** Where the app came from: absolute folder, language and README text, when it has them. */
  readonly folder?: string;
  readonly language?: 'typescript' | 'javascript' | 'yaml';
  readonly readme?: string;
}

/** When and how history is summarised: a window of invocations, or above a token count. Sizes count invocations and events. */
export interface EventsCompactionConfig {
  readonly compactionInterval?: number;
  readonly overlapSize?: number;
  readonly tokenThreshold?: number;
  readonly eventRetentionSize?: number;
  readonly summarizer?: EventsSummarizer;
}

/** Finds apps by name. Listing never loads code. */
export interface AgentLoader {
  /** App names, sorted. */
  listAgents(): Promise<string[]>;
  /** Throws `app_not_found`, `app_broken` or `ConfigurationException`. Loaded apps are shared until they change. */
  loadAgent(appName: string): Promise<App>;
  /** What is wrong with the app's files as they were last tried: `loadAgent` goes on giving the last version that worked. */
  failureOf?(appName: string): AppError | undefined;
  /** When a changed version of the app took the place of the one before, in seconds since the epoch; the newest last. */
  reloadsOf?(appName: string): readonly number[];
  /** Keeps a loaded app open until the returned function is called: a replaced one is closed once nobody holds it. */
  hold?(app: App): () => void;
  close(): Promise<void>;
}

/** What an instruction provider or a predicate may read. */
export interface ReadonlyContext {
  readonly invocationId: string;
  readonly agent: Agent;
  readonly branch?: string;
  /** The live session: its state is what the run has made of it so far. Read it, change it through a StateView only. */
  readonly session: Session;
  readonly userContent?: Content;
  readonly signal: AbortSignal;
  readonly log?: RunLog;
}

/** Where the runtime reports what it put up with. A pino logger fits. */
export interface RunLog {
  warn(fields: object, message: string): void;
}

/** What a run carries from the route down to the last tool. One per agent entered; never stored. */
export interface RunContext extends ReadonlyContext {
  readonly app: App;
  readonly services: Services;
  /** The app's plugins and the server's, in the order they are asked. */
  readonly plugins: readonly Plugin[];
  readonly models: ModelRegistry;
  readonly runConfig: RunConfig;
  /** Model calls of the whole invocation, shared by every agent entered. */
  readonly calls: { count: number };
  /** Set by a callback or tool that ends its agent's turn; each agent entered has its own. */
  readonly control: { ended: boolean };
  /** For plugins and callbacks to keep things in during one invocation, shared by all agents entered; never stored. */
  readonly data: Map<string, unknown>;
  /** The span that encloses this agent: opaque, made and read by telemetry. */
  readonly trace: object;
  /**
   * The invocation was broken off and goes on where its stored events end: agents that have begun leave out what they
   * have done. Agents written as functions begin again.
   */
  readonly continuing?: boolean;
  /** Trades what users answer to credential requests; absent: answers are taken as they are. */
  readonly credentials?: CredentialExchanger;
  /** What the user answered to credential requests, by their ids: handed to the exchanger, never stored. */
  readonly credentialAnswers?: Map<string, JsonObject>;
}

/** What a callback may use: the run, state it may change, artifacts and memory. */
export interface CallbackContext {
  readonly run: RunContext;
  readonly invocationId: string;
  readonly agentName: string;
  readonly state: StateView;
  /** What the event made from this step will carry: state and artifact changes, transfer, escalation. */
  readonly actions: EventActions;
  readonly userContent?: Content;
  readonly session: Session;
  readonly data: Map<string, unknown>;
  readonly signal: AbortSignal;
  /** Stores a version and notes it in `actions.artifactDelta`. Throws `not_supported` without an artifact service. */
  saveArtifact(name: string, artifact: Part, metadata?: JsonObject): Promise<number>;
  loadArtifact(name: string, version?: number): Promise<Part | undefined>;
  listArtifacts(): Promise<string[]>;
  /** Throws `not_supported` without a memory service. */
  searchMemory(query: string): Promise<MemoryEntry[]>;
  /** Ends this agent's turn after the current step. */
  endInvocation(): void;
}

/** What a tool may use in addition: the call it answers, and questions to the user. */
export interface ToolContext extends CallbackContext {
  readonly functionCallId: string;
  /** The same each time this call is run, again after a crash too: for services that do nothing twice for one key. */
  readonly idempotencyKey: string;
  /** The user's verdict, when this call asked for one before. */
  readonly toolConfirmation?: ToolConfirmation;
  /** For a `stream` in a live conversation: a copy of what the client sends from when it is first read. */
  readonly liveInput?: AsyncIterable<LiveInput>;
  /** Asks the user before anything happens; the call is run again with the verdict. */
  requestConfirmation(request?: { hint?: string; payload?: unknown }): void;
  /** Asks the user for a credential (an ADK AuthConfig object). */
  requestCredential(authConfig: JsonObject): void;
  /** The credential the user gave for this AuthConfig, once there is one. */
  getAuthResponse(authConfig: JsonObject): JsonObject | undefined;
}

/** Something the model may call. */
export interface Tool {
  readonly kind: 'tool';
  readonly name: string;
  readonly description: string;
  /** Absent for tools that only shape the request (built-ins of the provider, preloaded memory). */
  readonly declaration?: FunctionDeclaration;
  /** Its answer comes later, from the application: a first result may be given, none is fine. */
  readonly isLongRunning?: boolean;
  /** Whether the user is asked before the tool runs. */
  readonly requireConfirmation?: boolean | ((args: JsonObject, ctx: ToolContext) => MaybePromise<boolean>);
  /** Milliseconds before a call is given up; default: the run's. */
  readonly timeoutMs?: number;
  readonly customMetadata?: JsonObject;
  /** Answers one call. Whatever it throws becomes an error the model can read. */
  run?(args: JsonObject, ctx: ToolContext): MaybePromise<unknown>;
  /**
   * Answers one call bit by bit, in a live conversation: the call is answered at once as running, and each item is told
   * to the model as it comes, until the end or until the model calls `stop_streaming`. Elsewhere `run` is used.
   */
  stream?(args: JsonObject, ctx: ToolContext): AsyncIterable<unknown>;
  /** Shapes the request in addition to the declaration, in list order. */
  processRequest?(request: ModelRequest, ctx: CallbackContext): MaybePromise<void>;
  close?(): Promise<void>;
}

/** Tools that are looked up at run time, such as those of an MCP server. */
export interface Toolset {
  readonly kind: 'toolset';
  readonly name?: string;
  /** Its tools run on another machine or in another process: they change nothing here but by what they answer. */
  readonly isRemote?: boolean;
  /** A failure costs the agent these tools only, and the model is told. ConfigurationException ends the run. */
  getTools(ctx: ReadonlyContext): Promise<readonly Tool[]>;
  /** Throws ConfigurationException for what will keep it from having tools, as far as no other machine has to be asked. */
  check?(): Promise<void>;
  /** Asked before the request hooks of its tools. */
  processRequest?(request: ModelRequest, ctx: CallbackContext): MaybePromise<void>;
  close(): Promise<void>;
}

export type BeforeAgentCallback = (ctx: CallbackContext) => MaybePromise<Content | undefined | void>;
export type AfterAgentCallback = BeforeAgentCallback;
export type BeforeModelCallback = (
  request: ModelRequest,
  ctx: CallbackContext,
) => MaybePromise<ModelResponse | undefined | void>;
export type AfterModelCallback = (
  response: ModelResponse,
  ctx: CallbackContext,
) => MaybePromise<ModelResponse | undefined | void>;
export type OnModelErrorCallback = (
  request: ModelRequest,
  error: unknown,
  ctx: CallbackContext,
) => MaybePromise<ModelResponse | undefined | void>;
export type BeforeToolCallback = (
  tool: Tool,
  args: JsonObject,
  ctx: ToolContext,
) => MaybePromise<JsonObject | undefined | void>;
export type AfterToolCallback = (
  tool: Tool,
  args: JsonObject,
  ctx: ToolContext,
  result: JsonObject,
) => MaybePromise<JsonObject | undefined | void>;
export type OnToolErrorCallback = (
  tool: Tool,
  args: JsonObject,
  ctx: ToolContext,
  error: unknown,
) => MaybePromise<JsonObject | undefined | void>;

/** Callbacks around an agent of any kind, in the order they are asked; the first answer wins. */
export interface AgentCallbacks {
  readonly beforeAgent?: readonly BeforeAgentCallback[];
  readonly afterAgent?: readonly AfterAgentCallback[];
}

/**
 * Hooks around every run of an app or server, asked before an agent's own callbacks, in registration order; the first
 * answer wins. Rules: an answer to `beforeRun`, `beforeAgent`, `beforeModel` or `beforeTool` replaces what it precedes;
 * one to `onUserMessage`, `onEvent` or an `after…` hook replaces what it follows.
 */
export interface Plugin {
  readonly name: string;
  /** Asked once when a run starts, with the state the request brings: false leaves the plugin out of that run. Absent: every run. */
  appliesTo?(session: Session): boolean;
  onUserMessage?(ctx: RunContext, message: Content): MaybePromise<Content | undefined | void>;
  beforeRun?(ctx: RunContext): MaybePromise<Content | undefined | void>;
  onEvent?(ctx: RunContext, event: Event): MaybePromise<Event | undefined | void>;
  /** Asked of every plugin once the run is over, however it ended. */
  afterRun?(ctx: RunContext): MaybePromise<void>;
  /** Told of an error that ends the run; its own failures are swallowed. */
  onRunError?(ctx: RunContext, error: unknown): MaybePromise<void>;
  beforeAgent?: BeforeAgentCallback;
  afterAgent?: AfterAgentCallback;
  beforeModel?: BeforeModelCallback;
  afterModel?: AfterModelCallback;
  onModelError?: OnModelErrorCallback;
  beforeTool?: BeforeToolCallback;
  afterTool?: AfterToolCallback;
  onToolError?: OnToolErrorCallback;
  /** Stands between the callbacks and the model: hands on what `call` gives, or answers in its place. */
  aroundModel?(
    request: ModelRequest,
    ctx: CallbackContext,
    call: () => AsyncIterable<ModelResponse>,
  ): AsyncIterable<ModelResponse>;
  /** The same for a tool, and for names no tool has: `call` then throws. What it gives is the tool's raw result. */
  aroundTool?(tool: Tool, args: JsonObject, ctx: ToolContext, call: () => Promise<unknown>): Promise<unknown>;
  /** Tools in the place of a toolset, which is then left out of the step; absent: the toolset is asked. */
  replaceToolset?(toolset: Toolset, ctx: ReadonlyContext): MaybePromise<readonly Tool[] | undefined>;
  /** Names of the tools the model may see in this step; absent: all. */
  beforeToolSelection?(
    tools: ReadonlyMap<string, Tool>,
    ctx: CallbackContext,
  ): MaybePromise<Iterable<string> | undefined | void>;
  close?(): Promise<void>;
}
