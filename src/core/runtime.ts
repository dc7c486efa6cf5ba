import type { ErrorPolicy } from '../base/error-policy.ts';
import type { AppError } from '../base/errors.ts';
import type { JsonObject } from '../base/json.ts';
import type { Content, Part } from '../schemas/content.ts';
import type { Event, EventActions, ToolConfirmation } from '../schemas/event.ts';
import type { MemoryEntry } from '../schemas/records.ts';
import type { RunConfig } from '../schemas/run.ts';
import type { ReadonlySession } from '../schemas/session.ts';
import type { CredentialExchanger } from './auth.ts';
import type { CustomMetrics } from './custom-metric.ts';
import type {
  ContextCacheConfig,
  FunctionDeclaration,
  LiveInput,
  ModelRegistry,
  ModelRequest,
  ModelResponse,
  SideResponse,
  SideRequest,
} from './model.ts';
import type { RunBudget } from './run-budget.ts';
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
  askModel?(question: SideRequest, ctx: RunContext, signal: AbortSignal): Promise<SideResponse>;
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
  retain?(app: App): () => void;
  close(): Promise<void>;
}

/** What an instruction provider or a predicate may read. */
export interface ReadonlyContext {
  readonly invocationId: string;
  readonly agent: Agent;
  readonly branch?: string;
  /** The live session: its state is what the run has made of it so far. Read it, change it through a StateView only. */
  readonly session: ReadonlySession;
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
  /** The server's plugins, then the app's, in the order in which their hooks are called. */
  readonly plugins: readonly Plugin[];
  readonly models: ModelRegistry;
  readonly runConfig: RunConfig;
  /** Model calls of the whole invocation, shared by every agent entered. */
  readonly calls: { count: number };
  /** Shared by all agents, those that run as tools included. Absent: the run has no budgets. */
  readonly budget?: RunBudget;
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
  /** Decides what callers see of what the code of authors throws; absent: messages only, without ids and places. */
  readonly errors?: ErrorPolicy;
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
  readonly session: ReadonlySession;
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

/** Something the model may call. `Args` is what a caller gives it: known for tools made by `functionTool` and its kin. */
export interface Tool<Args extends object = object> {
  readonly kind: 'tool';
  /** Carries `Args` for the compiler; no tool has it. */
  readonly '~args'?: Args;
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

/** What a hook around an agent's turn gets. */
export interface AgentHookParams {
  readonly agent: Agent;
  readonly context: CallbackContext;
}

/** What a hook before a model call gets. */
export interface BeforeModelParams {
  /** Hooks may change it in place: the model gets it as they leave it. */
  readonly request: ModelRequest;
  readonly context: CallbackContext;
}

/** What a hook after a model's response gets; each fragment of a streamed response is one. */
export interface AfterModelParams {
  readonly response: ModelResponse;
  readonly context: CallbackContext;
}

/** What a hook for a failed model call gets. `error` is what the model threw. */
export interface OnModelErrorParams extends BeforeModelParams {
  readonly error: unknown;
}

/** What a hook before a tool call gets. */
export interface BeforeToolParams {
  readonly tool: Tool;
  /** Hooks may change them in place: the tool gets them as they leave them. */
  readonly args: JsonObject;
  readonly context: ToolContext;
}

/** What a hook after a tool call gets. A result that is no object comes as `{ result }`. */
export interface AfterToolParams extends BeforeToolParams {
  readonly result: JsonObject;
}

/** What a hook for a failed tool call gets: a name that no tool has is a failure too. `error` is what the tool threw. */
export interface OnToolErrorParams extends BeforeToolParams {
  readonly error: unknown;
}

/** What a hook around a run gets. */
export interface RunHookParams {
  readonly context: RunContext;
}

export interface OnUserMessageParams extends RunHookParams {
  /** The message as the client sent it, without credentials. */
  readonly userMessage: Content;
}

export interface OnEventParams extends RunHookParams {
  readonly event: Event;
}

export interface OnRunErrorParams extends RunHookParams {
  readonly error: unknown;
}

export interface AroundModelParams extends BeforeModelParams {
  /** Calls the plugins further in, and at last the model. */
  readonly next: () => AsyncIterable<ModelResponse>;
}

export interface AroundToolParams extends BeforeToolParams {
  /** Calls the plugins further in, and at last the tool, whose raw result it returns. Throws for a name no tool has. */
  readonly next: () => Promise<unknown>;
}

export interface ReplaceToolsetParams {
  readonly toolset: Toolset;
  readonly context: ReadonlyContext;
}

export interface BeforeToolSelectionParams {
  /** The tools of this step by their names. */
  readonly tools: ReadonlyMap<string, Tool>;
  readonly context: CallbackContext;
}

/** A hook gets one object with named members. Returning nothing leaves everything as it is. */
export type Hook<Params, Result> = (params: Params) => MaybePromise<Result | undefined | void>;

export type BeforeAgentCallback = Hook<AgentHookParams, Content>;
export type AfterAgentCallback = Hook<AgentHookParams, Content>;
export type BeforeModelCallback = Hook<BeforeModelParams, ModelResponse>;
export type AfterModelCallback = Hook<AfterModelParams, ModelResponse>;
export type OnModelErrorCallback = Hook<OnModelErrorParams, ModelResponse>;
export type BeforeToolCallback = Hook<BeforeToolParams, JsonObject>;
export type AfterToolCallback = Hook<AfterToolParams, JsonObject>;
export type OnToolErrorCallback = Hook<OnToolErrorParams, JsonObject>;

/** Callbacks around an agent of any kind, called in list order until one returns a result. */
export interface AgentCallbacks {
  readonly beforeAgent?: readonly BeforeAgentCallback[];
  readonly afterAgent?: readonly AfterAgentCallback[];
}

/**
 * Hooks around every run of an app or server. The plugins are called in registration order, then the agent's own
 * callbacks; the first result wins and the rest is not called. A result of `beforeRun`, `beforeAgent`, `beforeModel` or
 * `beforeTool` replaces the work that would follow; one of `onUserMessage`, `onEvent`, an `after…` or an `on…Error` hook
 * replaces the value that the hook got.
 */
export interface Plugin {
  readonly name: string;
  /** Called once when a run starts, with the state the request brings: false leaves the plugin out of that run. Absent: every run. */
  appliesTo?(params: { readonly session: ReadonlySession }): boolean;
  /** The result is stored in the place of the user's message. */
  readonly onUserMessage?: Hook<OnUserMessageParams, Content>;
  /** The result becomes the only event of the run; no agent runs. */
  readonly beforeRun?: Hook<RunHookParams, Content>;
  /** The result is stored and shown in the place of the event; `id`, `invocationId` and `timestamp` stay those of the event. */
  readonly onEvent?: Hook<OnEventParams, Event>;
  /** Called on every plugin once the run is over, however it ended. */
  readonly afterRun?: (params: RunHookParams) => MaybePromise<void>;
  /** Called on every plugin with the error that ends the run. What it throws is logged. */
  readonly onRunError?: (params: OnRunErrorParams) => MaybePromise<void>;
  /** The result becomes the agent's event; the agent and its `afterAgent` hooks do not run. */
  readonly beforeAgent?: BeforeAgentCallback;
  /** The result becomes one more event after those of the agent. */
  readonly afterAgent?: AfterAgentCallback;
  readonly beforeModel?: BeforeModelCallback;
  readonly afterModel?: AfterModelCallback;
  readonly onModelError?: OnModelErrorCallback;
  readonly beforeTool?: BeforeToolCallback;
  readonly afterTool?: AfterToolCallback;
  readonly onToolError?: OnToolErrorCallback;
  /** Middleware around the model call: yield what `next()` yields, or your own responses. The first plugin is outermost. */
  readonly aroundModel?: (params: AroundModelParams) => AsyncIterable<ModelResponse>;
  /** Middleware around a tool call: return what `next()` returns, or your own result. The first plugin is outermost. */
  readonly aroundTool?: (params: AroundToolParams) => Promise<unknown>;
  /** The result is used in this step in the place of the toolset, which is then not called. */
  readonly replaceToolset?: Hook<ReplaceToolsetParams, readonly Tool[]>;
  /** The result names the tools that the model may see in this step; each plugin gets what the one before it left. */
  readonly beforeToolSelection?: Hook<BeforeToolSelectionParams, Iterable<string>>;
  /** Called once when the runner closes. */
  close?(): Promise<void>;
}
