// The entry 'agent-server/testing': what tests of agents, tools and stores need.

export { evaluate, type EvaluateOptions, EvaluationFailed } from '../app/evaluate.ts';
export { createModelRegistry, type ModelRegistryOptions, type OpenModelRegistry } from '../models/registry.ts';
export { scriptedModel } from '../models/scripted/scripted.ts';
export type { EvalCaseResult, EvalSetResult } from '../schemas/evaluation/eval-result.ts';
export type { Script, ScriptRule } from '../schemas/script.ts';
export { InMemoryArtifacts } from '../services/artifacts/in-memory.ts';
export { InMemoryMemories } from '../services/memories/in-memory.ts';
export { InMemorySessions } from '../services/sessions/in-memory.ts';
export { InMemoryCredentials } from '../tools/auth/credential-store.ts';
export { callTool, type CallToolOptions, type ToolCallOutcome } from './call-tool.ts';
export { type AgentRun, runAgent, type RunAgentOptions } from './run-agent.ts';
export { inMemoryServices } from './services.ts';
export {
  artifactContentContract,
  artifactRetentionContract,
  artifactServiceContract,
  memoryServiceContract,
  sessionServiceContract,
} from './store-contracts.ts';
