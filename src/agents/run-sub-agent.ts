import { stopOnAbort } from '../base/abort.ts';
import { AppError } from '../base/errors.ts';
import { newEvent } from '../core/events/new-event.ts';
import { firstResult, hasHook } from '../core/hooks.ts';
import type { LiveInput } from '../core/model.ts';
import type { Agent, RunContext } from '../core/runtime.ts';
import type { Event } from '../schemas/event.ts';
import { inSpan } from '../telemetry/in-span.ts';
import { type OpenSpan, openSpan } from '../telemetry/spans.ts';
import { changesAnything, CallbackContextImpl } from './callback-context.ts';
import { hasStarted } from './continuation.ts';

/**
 * Runs an agent with its callbacks, in a copy of the context that changes only what `overrides` names. The copy has its
 * own `control`, so that ending one agent call never ends another.
 */
export function runSubAgent(
  agent: Agent,
  ctx: RunContext,
  overrides?: Partial<RunContext>,
): AsyncIterableIterator<Event, void, void> {
  return around(agent, overrides ? { ...ctx, ...overrides } : ctx, bodyOf);
}

/** The same over a live connection. Throws `not_supported` for an agent without `runLive`. */
export function runSubAgentLive(
  agent: Agent,
  ctx: RunContext,
  input: AsyncIterable<LiveInput>,
): AsyncIterableIterator<Event, void, void> {
  const talk = agent.runLive?.bind(agent);
  if (!talk) {
    const kind = agent.kind === undefined || agent.kind === 'custom' ? '' : ` (${agent.kind})`;
    throw new AppError('not_supported', `Agent "${agent.name}"${kind} does not support live connections`);
  }
  return around(agent, ctx, (_agent, own) =>
    stopsByItself(agent) ? talk(own, input) : stopOnAbort(talk(own, input), own.signal),
  );
}

type Body = (agent: Agent, ctx: RunContext) => AsyncIterable<Event>;

function around(agent: Agent, ctx: RunContext, body: Body): AsyncIterableIterator<Event, void, void> {
  const open = (): OpenSpan => {
    ctx.signal.throwIfAborted();
    return openSpan('agent', `invoke_agent ${agent.name}`, ctx.trace, {
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.agent.name': agent.name,
      'gen_ai.agent.description': agent.description ?? '',
      'gen_ai.conversation.id': ctx.session.id,
      'gcp.vertex.agent.invocation_id': ctx.invocationId,
    });
  };
  return inSpan(open, (span) => {
    const own: RunContext = {
      ...ctx,
      agent,
      control: { ended: false },
      trace: span.context,
      ...(ctx.continuing && { continuing: hasStarted(agent, ctx) }),
    };
    return isWatched(agent, own) ? withCallbacks(agent, own, body) : body(agent, own);
  });
}

/** Whether anything runs before or after the agent itself. */
const isWatched = (agent: Agent, ctx: RunContext): boolean =>
  hasHook(ctx, 'beforeAgent', agent.callbacks?.beforeAgent) || hasHook(ctx, 'afterAgent', agent.callbacks?.afterAgent);

async function* withCallbacks(agent: Agent, own: RunContext, body: Body): AsyncGenerator<Event, void, void> {
  if (!own.continuing && hasHook(own, 'beforeAgent', agent.callbacks?.beforeAgent)) {
    const event = await callAgentHooks('beforeAgent', own);
    if (event) yield event;
    if (event?.content || own.control.ended) return;
  }
  yield* body(agent, own);
  if (!own.control.ended && hasHook(own, 'afterAgent', agent.callbacks?.afterAgent)) {
    const event = await callAgentHooks('afterAgent', own);
    if (event) yield event;
  }
}

/** The built-in kinds of agents stop when the signal aborts; custom agents may ignore it. */
const stopsByItself = ({ kind }: Agent): boolean => kind !== undefined && kind !== 'custom';

const bodyOf = (agent: Agent, ctx: RunContext): AsyncIterable<Event> =>
  stopsByItself(agent) ? agent.run(ctx) : stopOnAbort(agent.run(ctx), ctx.signal);

/** The event of an agent's callbacks: the content they returned, or their state changes; `undefined` without either. */
async function callAgentHooks(name: 'beforeAgent' | 'afterAgent', ctx: RunContext): Promise<Event | undefined> {
  const context = new CallbackContextImpl(ctx);
  const { agent } = ctx;
  const content = await firstResult(ctx, name, { agent, context }, agent.callbacks?.[name]);
  const { actions } = context;
  if (content) return newEvent(ctx, agent.name, { content: { ...content, role: content.role ?? 'model' }, actions });
  return changesAnything(actions) ? newEvent(ctx, agent.name, { actions }) : undefined;
}
