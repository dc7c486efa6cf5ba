import type { AgentTree } from '../agents/tree.ts';
import { AppError } from '../base/errors.ts';
import { importedHistory, isImported, ownEvents } from '../core/imported-events.ts';
import type { Agent } from '../core/runtime.ts';
import { functionCalls, functionResponses, type Event } from '../schemas/event.ts';

/**
 * The agent that takes the next turn of a session: the one whose call the newest message answers, else the last one
 * that spoke and may be spoken to directly, else the root. In a resumable app an answered call of a sequence goes to the
 * outermost sequence around it, which goes on where it paused. What imported events claim counts for nothing.
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
