import { AppError, placeSuffix } from '../base/errors.ts';
import { isJsonObject, type JsonObject } from '../base/json.ts';
import { newEvent } from '../core/events/new-event.ts';
import { hasHook, reviewEvent } from '../core/hooks.ts';
import type { Agent, RunContext, Tool, ToolContext } from '../core/runtime.ts';
import { textContent, textOf } from '../schemas/content.ts';
import type { Event } from '../schemas/event.ts';
import { keyOf, writable } from '../schemas/session.ts';
import { InMemorySessions } from '../services/sessions/in-memory.ts';
import { withoutTemp } from '../services/sessions/state-scopes.ts';
import { type ValueSchema, valueSchema } from '../tools/value-schema.ts';
import { definitionOf } from './definition/llm-definition.ts';
import { checkText } from './output-schema.ts';
import { runSubAgent } from './run-sub-agent.ts';
import { indexTree } from './tree.ts';

export interface AgentToolSpec {
  readonly agent: Agent;
  /** Ends the caller's step with the agent's answer; the calling model is not called again. */
  readonly skipSummarization?: boolean;
  /** Whether the app's plugins are called for the agent, too. Default true. */
  readonly includePlugins?: boolean;
  /** Milliseconds a call may take. Default: no limit besides those of the run, because an agent takes as long as its models. */
  readonly timeoutMs?: number;
}

const plainRequest: JsonObject = {
  type: 'object',
  properties: { request: { type: 'string', description: 'What the agent is asked to do.' } },
  required: ['request'],
};

/**
 * Lets a model call an agent like a function. Each call runs in a session of its own that starts with the caller's
 * state and is deleted afterwards; its state changes and artifacts are copied to the caller. Throws
 * ConfigurationException when the agent's tree is invalid.
 */
export function agentTool(spec: AgentToolSpec): Tool {
  const { agent, skipSummarization = false, timeoutMs = Number.POSITIVE_INFINITY } = spec;
  indexTree(agent);
  const input = inputOf(agent);
  const output = outputOf(agent);
  const { name, description = '' } = agent;
  return {
    kind: 'tool',
    name,
    description,
    timeoutMs,
    customMetadata: { agent: name },
    declaration: { name, description, parameters: input?.json ?? plainRequest },
    async run(args, ctx) {
      const message = await messageFrom(args, input, name);
      const last = await runInOwnSession(spec, message, ctx);
      if (skipSummarization) ctx.actions.skipSummarization = true;
      const text = textOf(last?.content);
      if (!output) return text === '' ? {} : { result: text };
      const checked = await checkText(text, output);
      if (checked.ok) return checked.value;
      throw new AppError('tool_failed', `The answer of agent "${name}" does not fit: ${checked.problems.join('; ')}`);
    },
    close: () => closeTree(agent),
  };
}

async function closeTree(agent: Agent): Promise<void> {
  await Promise.all([agent.close?.(), ...(agent.subAgents ?? []).map(closeTree)]);
}

/** A workflow agent has the input schema of its first sub-agent and the output schema of its last. */
function inputOf(agent: Agent): ValueSchema<unknown> | undefined {
  const own = definitionOf(agent)?.inputSchema ?? (agent.inputSchema && valueSchema(agent.inputSchema));
  const first = agent.kind === 'llm' ? undefined : agent.subAgents?.[0];
  return own ?? (first && inputOf(first));
}

function outputOf(agent: Agent): ValueSchema<unknown> | undefined {
  const own = definitionOf(agent)?.outputSchema ?? (agent.outputSchema && valueSchema(agent.outputSchema));
  const last = agent.kind === 'llm' ? undefined : agent.subAgents?.at(-1);
  return own ?? (last && outputOf(last));
}

async function messageFrom(args: JsonObject, input: ValueSchema<unknown> | undefined, name: string): Promise<string> {
  if (input) {
    const checked = await input.check(args);
    if (checked.ok) return JSON.stringify(checked.value);
    throw new AppError('invalid_request', `Invalid arguments for "${name}": ${checked.problems.join('; ')}`);
  }
  const { request } = args;
  if (typeof request === 'string') return request;
  throw new AppError('invalid_request', `"${name}" needs an argument "request" of type string`);
}

/** Runs the agent in a separate session. Returns its last event with content or an error. */
async function runInOwnSession(spec: AgentToolSpec, message: string, caller: ToolContext): Promise<Event | undefined> {
  const ctx = await ownSessionContext(spec, message, caller);
  const { sessions } = ctx.services;
  await sessions.appendEvent(writable(ctx.session), newEvent(ctx, 'user', { content: textContent('user', message) }));
  let last: Event | undefined;
  for await (const event of runSubAgent(spec.agent, ctx)) {
    if (event.partial) continue;
    const shown = hasHook(ctx, 'onEvent') ? await reviewEvent(ctx, event) : event;
    await sessions.appendEvent(writable(ctx.session), shown);
    copyChanges(shown, caller);
    if (shown.content) last = shown;
    if (shown.errorCode !== undefined) last = shown;
  }
  if (last?.errorCode !== undefined && textOf(last.content) === '') {
    throw new AppError('tool_failed', `Agent "${spec.agent.name}" failed: ${messageOf(last) ?? last.errorCode}`);
  }
  if (last && asksUser(last)) {
    throw new AppError('not_supported', `Agent "${spec.agent.name}" has to ask the user, which it cannot do as a tool`);
  }
  return last;
}

/** Why the agent failed, without the place in its code: models read the answers of tools. */
function messageOf({ errorMessage, customMetadata }: Event): string | undefined {
  const where = isJsonObject(customMetadata) ? customMetadata['where'] : undefined;
  return typeof where === 'string' ? errorMessage?.replace(placeSuffix(where), '') : errorMessage;
}

const asksUser = (event: Event): boolean => (event.longRunningToolIds?.length ?? 0) > 0 && textOf(event.content) === '';

/** The context of the own session: in memory only, but with the caller's id, so that it shares artifacts and memories. */
async function ownSessionContext(spec: AgentToolSpec, message: string, caller: ToolContext): Promise<RunContext> {
  const { run } = caller;
  const sessions = new InMemorySessions();
  const session = await sessions.createSession(run.session, {
    sessionId: keyOf(run.session).sessionId,
    state: withoutTemp(run.session.state),
  });
  const { branch: _branch, continuing: _continuing, ...shared } = run;
  return {
    ...shared,
    invocationId: `e-${crypto.randomUUID()}`,
    app: { ...run.app, rootAgent: spec.agent },
    agent: spec.agent,
    session,
    services: { ...run.services, sessions },
    plugins: spec.includePlugins === false ? [] : run.plugins,
    runConfig: { ...run.runConfig, streamingMode: 'none' },
    calls: { count: 0 },
    userContent: textContent('user', message),
    signal: caller.signal,
  };
}

/** Copies the event's changes of state and artifacts to the caller. */
function copyChanges({ actions }: Event, caller: ToolContext): void {
  for (const [key, value] of Object.entries(actions.stateDelta))
    if (!key.startsWith('temp:')) caller.state.set(key, value);
  Object.assign(caller.actions.artifactDelta, actions.artifactDelta);
}
