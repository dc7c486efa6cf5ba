import { isImported } from '../core/events/imported-events.ts';
import type { Agent, RunContext } from '../core/runtime.ts';
import { type Event, isFinalResponse } from '../schemas/event.ts';

/** Whether the agent or one below it already has an event on this branch in the resumed invocation. */
export const hasStarted = (agent: Agent, ctx: RunContext): boolean => lastEventBelow(agent, ctx) !== undefined;

/** The newest event of the invocation by the agent or one below it. */
function lastEventBelow(agent: Agent, ctx: RunContext): Event | undefined {
  const names = namesBelow(agent);
  return eventsOf(ctx).findLast(({ author }) => names.has(author));
}

/** The newest event of the invocation by the agent itself. */
export const lastOwnEvent = (ctx: RunContext): Event | undefined =>
  eventsOf(ctx).findLast(({ author }) => author === ctx.agent.name);

/** The newest event with content of the invocation on the agent's branch, of any agent. */
export const newestWithContent = (ctx: RunContext): Event | undefined =>
  eventsOf(ctx).findLast(({ content }) => content !== undefined);

/** Events of the invocation on this branch and below it, without the user's, and without imported ones. */
function eventsOf({ session, invocationId, branch }: RunContext): Event[] {
  const first = session.events.findIndex((event) => event.invocationId === invocationId);
  if (first < 0) return [];
  return session.events
    .slice(first)
    .filter(
      (event) =>
        event.invocationId === invocationId &&
        event.author !== 'user' &&
        isWithin(event.branch, branch) &&
        !isImported(event),
    );
}

const isWithin = (inner: string | undefined, outer: string | undefined): boolean =>
  outer === undefined || inner === outer || inner?.startsWith(`${outer}.`) === true;

function namesBelow(agent: Agent): Set<string> {
  const names = new Set([agent.name]);
  for (const child of agent.subAgents ?? []) for (const name of namesBelow(child)) names.add(name);
  return names;
}

/** The position at which a sequence or loop resumes an interrupted invocation. */
export interface WorkflowPosition {
  /** Index of the child that ran last. */
  readonly child: number;
  /** Completed rounds, without the current one. */
  readonly rounds: number;
  /** Whether an event of the current round escalated. */
  readonly escalated: boolean;
}

/** Derives the position from the events. The start for a new invocation and for one without events. */
export function positionOf(children: readonly Agent[], ctx: RunContext): WorkflowPosition {
  const start = { child: 0, rounds: 0, escalated: false };
  if (!ctx.continuing) return start;
  const names = children.map(namesBelow);
  let position: WorkflowPosition | undefined;
  let hasEnded = false;
  for (const event of eventsOf(ctx)) {
    const child = names.findIndex((below) => below.has(event.author));
    if (child < 0) continue;
    const isSameAgain = children.length === 1 && hasEnded;
    const isNextRound = position !== undefined && (child < position.child || isSameAgain);
    const rounds: number = (position?.rounds ?? 0) + (isNextRound ? 1 : 0);
    const escalated: boolean = event.actions.escalate === true || (!isNextRound && position?.escalated === true);
    position = { child, rounds, escalated };
    // A long-running call may be followed by what its tool says for now: that is no new round.
    hasEnded = event.content !== undefined && event.longRunningToolIds === undefined && isFinalResponse(event);
  }
  return position ?? start;
}
