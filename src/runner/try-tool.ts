import { randomUUID } from 'node:crypto';
import { definitionOf } from '../agents/definition/llm-definition.ts';
import type { LlmAgentSpec } from '../agents/definition/llm-spec.ts';
import { llmAgent } from '../agents/llm-agent.ts';
import { indexTree } from '../agents/tree.ts';
import type { ThrownDetail } from '../base/error-policy.ts';
import { AppError } from '../base/errors.ts';
import { isJsonObject, type JsonObject } from '../base/json.ts';
import type { Model } from '../core/model.ts';
import type { Agent } from '../core/runtime.ts';
import type { FunctionResponse } from '../schemas/content.ts';
import { type Event, type EventActions, functionResponses } from '../schemas/event.ts';
import type { SessionOwner, State } from '../schemas/session.ts';
import { InMemoryArtifacts } from '../services/artifacts/in-memory.ts';
import { InMemorySessions } from '../services/sessions/in-memory.ts';
import { Runner, type RunnerOptions } from './runner.ts';

export interface ToolTrial extends SessionOwner {
  /** The agent that has the tool, itself or from a toolset. */
  readonly agent: string;
  readonly name: string;
  readonly args: JsonObject;
  /** The state for the tool. */
  readonly state?: State | undefined;
}

export interface ToolOutcome {
  /** Absent while the user or the application has to give the response. */
  readonly response?: FunctionResponse;
  /** The error that the tool threw, if clients may see it. */
  readonly thrown?: ThrownDetail;
  /** The changes of the tool. */
  readonly actions?: EventActions;
  /** All events. */
  readonly events: readonly Event[];
}

/**
 * Runs one tool without a model, in a temporary session: changes of state and artifacts are not kept. Plugins and the
 * callbacks of the agent and its tools run as usual. Throws what loading the app throws, `agent_not_found` and
 * `invalid_request`.
 */
export function toolTrier(options: RunnerOptions): (trial: ToolTrial, signal: AbortSignal) => Promise<ToolOutcome> {
  return async ({ appName, userId, agent: agentName, name, args, state }, signal) => {
    const app = await options.loader.loadAgent(appName);
    const release = options.loader.retain?.(app);
    try {
      const agent = indexTree(app.rootAgent).find(agentName);
      if (!agent) throw new AppError('not_found', `App "${appName}" has no agent "${agentName}"`);
      if (!agent.tools?.length) throw new AppError('invalid_request', `Agent "${agentName}" has no tools`);
      const callId = `adk-${randomUUID()}`;
      const model = callingOnce({ id: callId, name, args });
      const rootAgent = llmAgent({ ...guardsOf(agent), name: agentName, model, tools: agent.tools, maxSteps: 1 });
      const sessions = new InMemorySessions();
      const { id: sessionId } = await sessions.createSession({ appName, userId }, { ...(state && { state }) });
      const runner = new Runner({
        ...options,
        services: { ...options.services, sessions, artifacts: new InMemoryArtifacts() },
        loader: {
          listAgents: () => Promise.resolve([appName]),
          loadAgent: () => Promise.resolve({ ...app, rootAgent }),
          close: () => Promise.resolve(),
        },
      });
      const newMessage = { role: 'user', parts: [{ text: `Try ${name}` }] };
      const request = { appName, userId, sessionId, newMessage, streaming: false };
      const events = await Array.fromAsync(await runner.start(request, signal));
      return outcomeOf(events, callId);
    } finally {
      release?.();
    }
  };
}

/** The callbacks of the agent and its tools, without those of the model, which does not run. */
function guardsOf(agent: Agent): Partial<LlmAgentSpec> {
  const { beforeTool = [], afterTool = [], onToolError = [] } = definitionOf(agent)?.callbacks ?? {};
  const { beforeAgent = [], afterAgent = [] } = agent.callbacks ?? {};
  return { beforeAgent, afterAgent, beforeTool, afterTool, onToolError };
}

function outcomeOf(events: readonly Event[], callId: string): ToolOutcome {
  for (const event of events) {
    const response = functionResponses(event).find(({ id }) => id === callId);
    if (response) return { response, ...thrownBy(callId, event), actions: event.actions, events };
  }
  return { events };
}

/** The tool's error, from the event with its response. */
function thrownBy(callId: string, { customMetadata }: Event): { thrown?: ThrownDetail } {
  const toolErrors = isJsonObject(customMetadata) ? customMetadata['toolErrors'] : undefined;
  const thrown = isJsonObject(toolErrors) ? toolErrors[callId] : undefined;
  return thrown === undefined ? {} : { thrown: thrown as ThrownDetail }; // written by `runTools`
}

/** A model whose only response is this call. */
const callingOnce = (functionCall: { id: string; name: string; args: JsonObject }): Model => ({
  name: 'none',
  async *generate() {
    yield { content: { role: 'model', parts: [{ functionCall }] } };
  },
});
