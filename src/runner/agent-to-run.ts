import { runSubAgent } from '../agents/run-sub-agent.ts';
import { type AgentTree, indexTree } from '../agents/tree.ts';
import { AppError } from '../base/errors.ts';
import { importedHistory, isImported, ownEvents } from '../core/events/imported-events.ts';
import { newEvent } from '../core/events/new-event.ts';
import { firstResult, hasHook } from '../core/hooks.ts';
import type { Agent, RunContext } from '../core/runtime.ts';
import { functionCalls, functionResponses, type Event } from '../schemas/event.ts';

/** Runs the app's plugins and then its agent: the result of a `beforeRun` hook replaces the agent's events. */
export async function* runRootAgent(ctx: RunContext): AsyncIterable<Event> {
  const early = hasHook(ctx, 'beforeRun') ? await firstResult(ctx, 'beforeRun', { context: ctx }) : undefined;
  if (early) yield newEvent(ctx, 'model', { content: early });
  else yield* runSelectedAgent(ctx);
}

/** Runs the agent that `agentToRun` selects; a resumed invocation runs the one that it began with. */
export function runSelectedAgent(ctx: RunContext): AsyncIterable<Event> {
  const { session, app } = ctx;
  const events = ctx.continuing ? eventsAtStart(session.events, ctx.invocationId) : session.events;
  return runSubAgent(agentToRun(indexTree(app.rootAgent), events, app.resumability?.isResumable), ctx);
}

/**
 * Decides which agent responds to the newest message: the one whose call the message answers, else the last author that
 * the user may talk to directly, else the root. In a resumable app the answer to a call inside a sequence goes to the
 * outermost sequence around it, which resumes where it paused. Imported events are ignored.
 */
export function agentToRun(tree: AgentTree, events: readonly Event[], isResumable = false): Agent {
  const own = ownEvents(events);
  const answered = answeredAgent(tree, own);
  if (answered) return (isResumable && outermostSequence(tree, answered)) || answered;
  return lastSpeaker(tree, own) ?? tree.root;
}

/** The events as they were when the invocation's message had just been stored. Throws `run_not_found`, and `imported_history`. */
export function eventsAtStart(events: readonly Event[], invocationId: string): readonly Event[] {
  const first = events.findIndex((event) => event.invocationId === invocationId);
  if (events.some((event) => event.invocationId === invocationId && isImported(event))) {
    throw importedHistory(`Invocation "${invocationId}" was imported`);
  }
  if (first < 0) throw new AppError('run_not_found', `Invocation not found: ${invocationId}`);
  return events.slice(0, first + 1);
}

function outermostSequence(tree: AgentTree, agent: Agent): Agent | undefined {
  let outermost: Agent | undefined;
  for (let above = tree.parentOf(agent); above; above = tree.parentOf(above)) {
    if (above.kind === 'sequential') outermost = above;
  }
  return outermost;
}

function answeredAgent(tree: AgentTree, events: readonly Event[]): Agent | undefined {
  const newest = events.at(-1);
  if (!newest || newest.author !== 'user') return undefined;
  const ids = new Set(functionResponses(newest).map((response) => response.id));
  if (ids.size === 0) return undefined;
  const call = events.findLast((event) => event !== newest && functionCalls(event).some(({ id }) => ids.has(id)));
  return call && tree.find(call.author);
}

function lastSpeaker(tree: AgentTree, events: readonly Event[]): Agent | undefined {
  for (let index = events.length - 1; index >= 0; index -= 1) {
    const author = events[index]?.author;
    if (!author || author === 'user') continue;
    if (author === tree.root.name) return tree.root;
    const agent = tree.find(author);
    if (agent && canBeSpokenTo(tree, agent)) return agent;
  }
  return undefined;
}

/** Whether every agent from this one up to the root is led by a model and may hand the turn back to its parent. */
function canBeSpokenTo(tree: AgentTree, agent: Agent): boolean {
  for (let current: Agent | undefined = agent; current; current = tree.parentOf(current)) {
    if (current.kind !== 'llm' || current.canTransferToParent === false) return false;
  }
  return true;
}
