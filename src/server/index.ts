// The entry 'agent-server/server': hosts agents in a program, and what stores, models and credentials of its own take.

export { type AgentServer, type AgentsOption, createServer, type ServerOptions } from '../app/create-server.ts';
export { AppError, type ErrorCode } from '../base/errors.ts';
export type { JsonObject } from '../base/json.ts';
export type { Model, ModelRegistry } from '../core/model.ts';
export type { RunEnd, RunKind, RunRef, RunStore, StoredRun } from '../core/run-store.ts';
export type { RunFilter, RunKey, Runs, SubmitOptions, Submitted } from '../core/runs.ts';
export { hasRole, type Principal, type PrincipalLimits, type Role } from '../core/principal.ts';
export type { Agent, AgentLoader, App, Plugin } from '../core/runtime.ts';
export type {
  AppendFencing,
  ArtifactService,
  CollectOptions,
  CopiedVersion,
  EventPage,
  MemoryService,
  NewContent,
  NewSession,
  Services,
  SessionReading,
  SessionService,
  StoredArtifactVersion,
  StoredContent,
  VersionLimits,
} from '../core/services.ts';
export { Evaluations, type EvaluationsOptions } from '../evaluation/evaluations.ts';
export type { Log } from '../core/log.ts';
export type { AuthenticateFunction, CallerIdentity } from '../identity/authenticate-function.ts';
export type { CallerRequest } from '../identity/authenticator.ts';
export { agentFolders } from '../loaders/agent-folders.ts';
export type { AppFinder, AppSource } from '../loaders/app-source.ts';
export { compiledFolders, type CompiledFoldersOptions } from '../loaders/compiled.ts';
export { mergedLoader } from '../loaders/merged.ts';
export { DirectoryLoader, type DirectoryLoaderOptions } from '../loaders/directory-loader.ts';
export { staticLoader } from '../loaders/static.ts';
export type { ModelRegistration } from '../models/registration.ts';
export { createModelRegistry, type ModelRegistryOptions, type OpenModelRegistry } from '../models/registry.ts';
export type { LiveRunRequest } from '../runner/live/live-session.ts';
export type { Run } from '../runner/run-events.ts';
export { Runner, type RunnerOptions } from '../runner/runner.ts';
export { Content, Part } from '../schemas/content-schema.ts';
export type { EvalMetric, EvalMetricResult } from '../schemas/evaluation/eval-metric.ts';
export type { EvalCaseResult, EvalSetResult } from '../schemas/evaluation/eval-result.ts';
export type { EvalCase, EvalSet } from '../schemas/evaluation/eval-set.ts';
export { Event, EventActions } from '../schemas/event-schema.ts';
export type { ArtifactVersion, ListEventsResponse, MemoryEntry } from '../schemas/records.ts';
export { RunConfig, RunRequest } from '../schemas/run.ts';
export type {
  Generation,
  GetSessionConfig,
  ReadonlySession,
  Session,
  SessionKey,
  SessionOwner,
  State,
} from '../schemas/session.ts';
export { generation, keyOf } from '../schemas/session.ts';
export { InMemoryArtifacts } from '../services/artifacts/in-memory.ts';
export { InMemoryMemories } from '../services/memories/in-memory.ts';
export { InMemorySessions } from '../services/sessions/in-memory.ts';
export { TraceRecorder } from '../telemetry/recorder.ts';
