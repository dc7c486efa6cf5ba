import type { Agent, RunContext } from '../core/runtime.ts';
import { functionCalls, functionResponses } from '../schemas/event.ts';

/** Whether a resumable app should stop here: one of these long-running calls has no answer from the user yet. */
export function isWaiting(ctx: RunContext, callIds: ReadonlySet<string> | undefined): boolean {
  if (!callIds || !ctx.app.resumability?.isResumable) return false;
  const open = new Set(callIds);
  for (const event of ctx.session.events) {
    if (event.author !== 'user') continue;
    for (const { id } of functionResponses(event)) if (id !== undefined) open.delete(id);
  }
  return open.size > 0;
}

/**
 * The child to go on with in a resumable app: the one in whose subtree the call was made that the newest event answers.
 * 0 otherwise.
 */
export function answeredChild(ctx: RunContext, children: readonly Agent[]): number {
  const { events } = ctx.session;
  const newest = events.at(-1);
  if (!ctx.app.resumability?.isResumable || newest?.author !== 'user') return 0;
  const ids = new Set(functionResponses(newest).map(({ id }) => id));
  if (ids.size === 0) return 0;
  const asked = events.findLast((event) => functionCalls(event).some(({ id }) => ids.has(id)));
  const index = children.findIndex((child) => asked !== undefined && contains(child, asked.author));
  return Math.max(0, index);
}

const contains = (agent: Agent, name: string): boolean =>
  agent.name === name || (agent.subAgents ?? []).some((child) => contains(child, name));
