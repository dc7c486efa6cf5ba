import { enter } from '../agents/enter.ts';
import { indexTree } from '../agents/tree.ts';
import { firstResult, hasHook } from '../core/hooks.ts';
import { newEvent } from '../core/new-event.ts';
import type { RunContext } from '../core/runtime.ts';
import type { Event } from '../schemas/event.ts';
import { agentToRun, eventsAtStart } from './agent-to-run.ts';

/** What plugins answer in the place of the agent, or the agent's turn. */
export async function* answersTo(ctx: RunContext): AsyncIterable<Event> {
  const early = hasHook(ctx, 'beforeRun') ? await firstResult(ctx, 'beforeRun', { context: ctx }) : undefined;
  if (early) yield newEvent(ctx, 'model', { content: early });
  else yield* turnOf(ctx);
}

/** The turn of the agent whose it is; in an invocation that goes on, of the one that began it. */
export function turnOf(ctx: RunContext): AsyncIterable<Event> {
  const { session, app } = ctx;
  const events = ctx.continuing ? eventsAtStart(session.events, ctx.invocationId) : session.events;
  return enter(agentToRun(indexTree(app.rootAgent), events, app.resumability?.isResumable), ctx);
}
