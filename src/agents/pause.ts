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

/** The children of an agent that resume with the user's newest responses. */
export interface ResumePoint {
  /** Indexes of the children in whose subtrees the answered calls were made. */
  readonly children: readonly number[];
  /** The invocation in which the first of the calls was made. */
  readonly invocationId: string;
}

/** The resume point in a resumable app; `undefined` when the newest event responds to no call of these children. */
export function resumePoint(ctx: RunContext, children: readonly Agent[]): ResumePoint | undefined {
  const { events } = ctx.session;
  const newest = events.at(-1);
  if (!ctx.app.resumability?.isResumable || newest?.author !== 'user') return undefined;
  const ids = new Set(functionResponses(newest).map(({ id }) => id));
  if (ids.size === 0) return undefined;
  const calling = events.filter((event) => functionCalls(event).some(({ id }) => ids.has(id)));
  const found = [...children.keys()].filter((index) => {
    const child = children[index];
    return child !== undefined && calling.some(({ author }) => contains(child, author));
  });
  const [first] = calling;
  return first && found.length > 0 ? { children: found, invocationId: first.invocationId } : undefined;
}

/** Ids of long-running calls made by the agent and below it since an invocation began. */
export function callsSince(invocationId: string, agent: Agent, ctx: RunContext): Set<string> {
  const { events } = ctx.session;
  const first = events.findIndex((event) => event.invocationId === invocationId);
  const own = first < 0 ? [] : events.slice(first).filter(({ author }) => contains(agent, author));
  return new Set(own.flatMap(({ longRunningToolIds = [] }) => longRunningToolIds));
}

const contains = (agent: Agent, name: string): boolean =>
  agent.name === name || (agent.subAgents ?? []).some((child) => contains(child, name));
