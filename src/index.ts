// The entry 'agent-server': what agents, tools and plugins are written with. Loading it has to stay cheap: it loads no
// other package and none of Node's larger modules before they are used (test/app/entries.test.ts).

export { agentTool, type AgentToolSpec } from './agents/agent-tool.ts';
export { runSubAgent } from './agents/run-sub-agent.ts';
export { inputAnswer, type InputRequest, inputRequest } from './agents/tool-calls/input-request.ts';
export { llmAgent } from './agents/llm-agent.ts';
export type { Instruction, LlmAgentSpec } from './agents/definition/llm-spec.ts';
export { builtInPlanner, type Planner, planReActPlanner } from './agents/definition/planners.ts';
export { remoteAgent, type RemoteAgentSpec } from './agents/remote/remote-agent.ts';
export {
  loopAgent,
  type LoopSpec,
  parallelAgent,
  type ParallelSpec,
  sequentialAgent,
  type WorkflowSpec,
} from './agents/workflow.ts';
export { AppError, type ErrorCode } from './base/errors.ts';
export type { JsonObject } from './base/json.ts';
export { codeSandbox } from './code/code-sandbox.ts';
export { javascriptSandbox } from './code/javascript/javascript-sandbox.ts';
export { pythonSandbox } from './code/python/python-sandbox.ts';
export type { SandboxOptions } from './code/sandbox-options.ts';
export type { CodeExecutionInput, CodeExecutionOutput, CodeExecutor, CodeFile } from './core/code-executor.ts';
export {
  type ContextCacheConfig,
  type FunctionDeclaration,
  type GenerateConfig,
  type LiveInput,
  type Model,
  ModelError,
  type ModelErrorCategory,
  type ModelRegistry,
  type ModelRequest,
  type ModelResponse,
  type ModelRetry,
} from './core/model.ts';
export type { CustomMetric, CustomMetricInput, CustomMetrics, CustomScore } from './core/custom-metric.ts';
export { newEvent } from './core/events/new-event.ts';
export type {
  AfterAgentCallback,
  AfterModelCallback,
  AfterModelParams,
  AfterToolCallback,
  AfterToolParams,
  Agent,
  AgentHookParams,
  AgentLoader,
  App,
  AroundModelParams,
  AroundToolParams,
  BeforeAgentCallback,
  BeforeModelCallback,
  BeforeModelParams,
  BeforeToolCallback,
  BeforeToolParams,
  BeforeToolSelectionParams,
  CallbackContext,
  EventsCompactionConfig,
  OnEventParams,
  OnModelErrorCallback,
  OnModelErrorParams,
  OnRunErrorParams,
  OnToolErrorCallback,
  OnToolErrorParams,
  OnUserMessageParams,
  Plugin,
  ReadonlyContext,
  ReplaceToolsetParams,
  RunContext,
  RunHookParams,
  Tool,
  ToolContext,
  Toolset,
} from './core/runtime.ts';
export type { ArtifactService, EventsSummarizer, MemoryService, Services, SessionService } from './core/services.ts';
export { StateView } from './core/state.ts';
export { llmSummarizer } from './models/llm-summarizer.ts';
export { claude, gemini, openai } from './models/provider-models.ts';
export { withRetry, type RetryOptions } from './models/retry.ts';
export { routedModel, type RoutedModelOptions } from './models/routed.ts';
export { scriptedModel } from './models/scripted/scripted.ts';
export { serviceAccountCredentials, type ServiceAccountCredentials } from './models/service-account.ts';
export { contextFilterPlugin, type ContextFilterOptions } from './plugins/context-filter.ts';
export { globalInstructionPlugin } from './plugins/global-instruction.ts';
export { loggingPlugin } from './plugins/logging.ts';
export { reflectAndRetryPlugin, type ReflectAndRetryOptions } from './plugins/reflect-and-retry.ts';
export {
  type Content,
  functionCallsOf,
  functionResponsesOf,
  type Part,
  textContent,
  textOf,
  textPart,
} from './schemas/content.ts';
export type { EvalCase, EvalSet, Invocation } from './schemas/evaluation/eval-set.ts';
export { type Event, type EventActions, isFinalResponse, newActions } from './schemas/event.ts';
export type { MemoryEntry } from './schemas/records.ts';
export type { RunConfig, RunRequest } from './schemas/run.ts';
export type { Script, ScriptRule } from './schemas/script.ts';
export type { ReadonlySession, Session, SessionKey, SessionOwner, State } from './schemas/session.ts';
export type { AuthConfig, AuthCredential, AuthScheme } from './tools/auth/auth-config.ts';
export { CredentialSource } from './tools/auth/credential-source.ts';
export { type CredentialStore, InMemoryCredentials } from './tools/auth/credential-store.ts';
export { authenticatedTool, type AuthenticatedToolSpec } from './tools/authenticated-tool.ts';
export { builtInCodeExecution, builtInCodeExecutor } from './tools/built-in/built-in-code-execution.ts';
export { enterpriseWebSearch } from './tools/built-in/enterprise-web-search.ts';
export { type ExampleProvider, exampleTool } from './tools/built-in/example-tool.ts';
export { exitLoop } from './tools/built-in/exit-loop.ts';
export { filteredToolset, type FilteredToolsetOptions } from './tools/filtered-toolset.ts';
export { functionTool, type FunctionToolSpec } from './tools/function-tool.ts';
export { getUserChoice } from './tools/built-in/get-user-choice.ts';
export { googleMapsGrounding } from './tools/built-in/google-maps-grounding.ts';
export { googleSearch } from './tools/built-in/google-search.ts';
export { loadArtifacts } from './tools/built-in/load-artifacts.ts';
export { loadMemory } from './tools/built-in/load-memory.ts';
export { loadWebPage, type LoadWebPageOptions } from './tools/built-in/load-web-page.ts';
export { type McpToolset, mcpToolset } from './tools/mcp/mcp-toolset.ts';
export type { McpConnectionSpec, McpToolsetSpec } from './tools/mcp/connection/options.ts';
export type { OpenApiToolsetOptions } from './tools/openapi/options.ts';
export { openApiToolset } from './tools/openapi/toolset.ts';
export { type PendingRequest, pendingRequests } from './tools/pending-requests.ts';
export { preloadMemory } from './tools/built-in/preload-memory.ts';
export { requestInput } from './tools/built-in/request-input.ts';
export type { SchemaSource, StandardSchema } from './tools/schema-types.ts';
export { streamingTool, type StreamingToolSpec } from './tools/streaming-tool.ts';
export { urlContext } from './tools/built-in/url-context.ts';
export { vertexAiRagRetrieval, type VertexAiRagRetrievalOptions } from './tools/built-in/vertex-ai-rag-retrieval.ts';
export { vertexAiSearch, type VertexAiSearchOptions } from './tools/built-in/vertex-ai-search.ts';
