// The public entry: what agents and programs import from 'agent-server'.

export { agentTool, type AgentToolSpec } from './agents/agent-tool.ts';
export { enter } from './agents/enter.ts';
export { inputAnswer, type InputRequest, inputRequest } from './agents/input-request.ts';
export { llmAgent } from './agents/llm-agent.ts';
export type { Instruction, LlmAgentSpec } from './agents/llm-spec.ts';
export { builtInPlanner, type Planner, planReActPlanner } from './agents/planners.ts';
export { remoteAgent, type RemoteAgentSpec } from './agents/remote-agent.ts';
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
export { javascriptSandbox } from './code/javascript-sandbox.ts';
export { pythonSandbox } from './code/python-sandbox.ts';
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
export { newEvent } from './core/new-event.ts';
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
export { evaluate, type EvaluateOptions, EvaluationFailed } from './app/evaluate.ts';
export { Evaluations, type EvaluationsOptions } from './evaluation/evaluations.ts';
export { buildApp } from './http/app.ts';
export type { HttpConfig, HttpDeps } from './http/deps.ts';
export { agentFolders } from './loaders/agent-folders.ts';
export type { AppFinder, AppSource } from './loaders/app-source.ts';
export { compiledFolders, type CompiledFoldersOptions } from './loaders/compiled.ts';
export { DirectoryLoader, type DirectoryLoaderOptions } from './loaders/reloading-loader.ts';
export { mergedLoader } from './loaders/merged.ts';
export { staticLoader } from './loaders/static.ts';
export { llmSummarizer } from './models/llm-summarizer.ts';
export { claude, gemini, openai } from './models/provider-models.ts';
export type { ModelRegistration } from './models/registration.ts';
export { createModelRegistry, type ModelRegistryOptions, type OpenModelRegistry } from './models/registry.ts';
export { retried, type RetryOptions } from './models/retry.ts';
export { routedModel, type RoutedModelOptions } from './models/routed.ts';
export { scriptedModel } from './models/scripted.ts';
export { serviceAccountCredentials, type ServiceAccountCredentials } from './models/service-account.ts';
export { contextFilterPlugin, type ContextFilterOptions } from './plugins/context-filter.ts';
export { globalInstructionPlugin } from './plugins/global-instruction.ts';
export { loggingPlugin } from './plugins/logging.ts';
export { reflectAndRetryPlugin, type ReflectAndRetryOptions } from './plugins/reflect-and-retry.ts';
export type { LiveRunRequest } from './runner/live/live-session.ts';
export { type Run, Runner, type RunnerOptions } from './runner/runner.ts';
export {
  Content,
  functionCallsOf,
  functionResponsesOf,
  Part,
  textContent,
  textOf,
  textPart,
} from './schemas/content.ts';
export type { EvalMetric, EvalMetricResult } from './schemas/eval-metric.ts';
export type { EvalCaseResult, EvalSetResult } from './schemas/eval-result.ts';
export type { EvalCase, EvalSet, Invocation } from './schemas/eval-set.ts';
export { Event, EventActions, isFinalResponse, newActions } from './schemas/event.ts';
export type { MemoryEntry } from './schemas/records.ts';
export { RunConfig, RunRequest } from './schemas/run.ts';
export type { Script, ScriptRule } from './schemas/script.ts';
export type { Session, SessionKey, SessionOwner, State } from './schemas/session.ts';
export { InMemoryArtifacts } from './services/artifacts/in-memory.ts';
export { InMemoryMemories } from './services/memories/in-memory.ts';
export { InMemorySessions } from './services/sessions/in-memory.ts';
export { TraceRecorder } from './telemetry/recorder.ts';
export { AuthConfig, AuthCredential, AuthScheme } from './tools/auth/auth-config.ts';
export { CredentialSource } from './tools/auth/credential-source.ts';
export { type CredentialStore, InMemoryCredentials } from './tools/auth/credential-store.ts';
export { credentialExchanger } from './tools/auth/exchange.ts';
export { authenticatedTool, type AuthenticatedToolSpec } from './tools/authenticated-tool.ts';
export { builtInCodeExecution, builtInCodeExecutor } from './tools/built-in-code-execution.ts';
export { enterpriseWebSearch } from './tools/enterprise-web-search.ts';
export { type ExampleProvider, exampleTool } from './tools/example-tool.ts';
export { exitLoop } from './tools/exit-loop.ts';
export { filteredToolset, type FilteredToolsetOptions } from './tools/filtered-toolset.ts';
export { functionTool, type FunctionToolSpec } from './tools/function-tool.ts';
export { getUserChoice } from './tools/get-user-choice.ts';
export { googleMapsGrounding } from './tools/google-maps-grounding.ts';
export { googleSearch } from './tools/google-search.ts';
export { loadArtifacts } from './tools/load-artifacts.ts';
export { loadMemory } from './tools/load-memory.ts';
export { loadWebPage, type LoadWebPageOptions } from './tools/load-web-page.ts';
export { type McpToolset, mcpToolset } from './tools/mcp/mcp-toolset.ts';
export type { McpConnectionSpec, McpToolsetSpec } from './tools/mcp/options.ts';
export { openApiToolset, type OpenApiToolsetOptions } from './tools/openapi/toolset.ts';
export { type PendingRequest, pendingRequests } from './tools/pending-requests.ts';
export { preloadMemory } from './tools/preload-memory.ts';
export { requestInput } from './tools/request-input.ts';
export { streamingTool, type StreamingToolSpec } from './tools/streaming-tool.ts';
export { urlContext } from './tools/url-context.ts';
export { vertexAiRagRetrieval, type VertexAiRagRetrievalOptions } from './tools/vertex-ai-rag-retrieval.ts';
export { vertexAiSearch, type VertexAiSearchOptions } from './tools/vertex-ai-search.ts';
