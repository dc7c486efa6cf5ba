import type { Content, Part } from '../../../src/schemas/content.ts';
import type { Event } from '../../../src/schemas/event.ts';
import type { SessionKey } from '../../../src/schemas/session.ts';
import { type Cut, forkSession } from '../api/extensions.ts';
import { messageOf } from '../api/server.ts';
import { rewindSession, type Session } from '../api/sessions.ts';
import { toast } from '../parts/toasts.tsx';
import { runOptions } from './composer/run-options.tsx';
import { navigate } from './location.ts';
import { type CallChange, metadataOf, metadataState, sessionAddress, type SessionMetadata } from './names.ts';
import { refreshSessions } from './queries.ts';
import type { Workspace } from './workspace.ts';
import { acquire, release } from './workspaces.ts';

/** A fork to make: how much of the history it keeps, what is different in it, and the message to send. */
interface ForkPlan {
  readonly at: Cut;
  /** In words. */
  readonly change: string;
  readonly message?: Content;
}

/** A fork made by changing a call: its run resumes from there. */
interface CallPlan extends ForkPlan {
  /** Of the last event it keeps. */
  readonly invocationId: string;
  /** The new content of that event. */
  readonly content: Content;
  readonly changed: Readonly<Record<string, CallChange>>;
}

/**
 * Makes a fork, opens it, and sends its message. The original is never changed. A failure shows as a toast and
 * resolves to undefined.
 */
export async function forkAndRun(workspace: Workspace, plan: ForkPlan | CallPlan): Promise<Workspace | undefined> {
  const { key } = workspace;
  try {
    const state = metadataState(metadataFor(workspace, plan));
    const content = 'content' in plan ? { content: plan.content } : {};
    const session = await forkSession(key, { ...plan.at, state, ...content });
    const fork: SessionKey = { ...key, sessionId: session.id };
    void refreshSessions(key); // the list may be late
    const opened = acquire(fork);
    navigate(sessionAddress(fork));
    await opened.open();
    if (plan.message) await opened.send(plan.message, runOptions());
    if ('content' in plan) await opened.send(undefined, { ...runOptions(), invocationId: plan.invocationId });
    release(fork);
    return opened;
  } catch (error) {
    toast(messageOf(error), { tone: 'error' });
    return undefined;
  }
}

function metadataFor({ key, log }: Workspace, plan: ForkPlan | CallPlan): SessionMetadata {
  const { displayName = `Session ${key.sessionId.slice(0, 8)}`, changedCalls = {} } = metadataOf(log);
  const { at, change } = plan;
  const forkedFrom = { sessionId: key.sessionId, eventId: 'eventId' in at ? at.eventId : at.beforeEventId };
  const changed = { ...changedCalls, ...('changed' in plan && plan.changed) };
  const hasChanged = Object.keys(changed).length > 0;
  return { displayName, forkedFrom, change, ...(hasChanged && { changedCalls: changed }) };
}

/** The user's message that an event answers. */
export function messageBehind({ log }: Workspace, event: Event): Event | undefined {
  const turn = log.turns.get(event.invocationId);
  for (let index = turn?.first ?? -1; index >= 0 && index <= (turn?.last ?? -1); index += 1) {
    const one = log.events[index];
    if (one?.author === 'user' && one.content) return one;
  }
  return undefined;
}

/** Runs the turn of an event again in a fork, with its message or with another one. */
export async function rerun(workspace: Workspace, event: Event, message?: Content): Promise<void> {
  const source = messageBehind(workspace, event);
  const content = message ?? source?.content;
  if (!source || !content) return;
  await forkAndRun(workspace, {
    at: { beforeEventId: source.id },
    change: message ? 'different message' : 'run again',
    message: content,
  });
}

/** Rewinds the session to before the turn of an event and sends its message again: for a turn that failed. */
export async function retry(workspace: Workspace, event: Event): Promise<void> {
  const content = messageBehind(workspace, event)?.content;
  if (!content || !(await rewind(workspace, event))) return;
  await workspace.send(content, runOptions());
}

/** Rewinds the session to before the turn of an event. A failure shows as a toast and resolves to false. */
export async function rewind(workspace: Workspace, event: Event): Promise<boolean> {
  try {
    await rewindSession(workspace.key, event.invocationId);
    await workspace.reload();
    return true;
  } catch (error) {
    toast(messageOf(error), { tone: 'error' });
    return false;
  }
}

/** Resumes in a fork as if a tool had returned something else. The state it wrote and other responses stay. */
export async function runWithResult(workspace: Workspace, answered: Event, changed: NamedResponse): Promise<void> {
  const { id, name, response } = changed;
  await forkAndRun(workspace, {
    at: { eventId: answered.id },
    invocationId: answered.invocationId,
    change: `different result of ${name}`,
    content: withParts(answered, (part) =>
      part.functionResponse?.id === id ? { ...part, functionResponse: { ...part.functionResponse, response } } : part,
    ),
    changed: { [id]: 'result' },
  });
}

interface NamedResponse {
  readonly id: string;
  readonly name: string;
  readonly response: Record<string, unknown>;
}

/**
 * Resumes in a fork as if a call had been made with other arguments: the call and its parallel calls run again.
 * Resolves to the fork when its run ends or waits.
 */
export async function runWithArguments(
  workspace: Workspace,
  calling: Event,
  { id, name, args }: { readonly id: string; readonly name: string; readonly args: Record<string, unknown> },
): Promise<Workspace | undefined> {
  return forkAndRun(workspace, {
    at: { eventId: calling.id },
    invocationId: calling.invocationId,
    change: `different arguments of ${name}`,
    content: withParts(calling, (part) =>
      part.functionCall?.id === id ? { ...part, functionCall: { ...part.functionCall, args } } : part,
    ),
    changed: { [id]: 'arguments' },
  });
}

const withParts = ({ content }: Event, change: (part: Part) => Part): Content => ({
  ...content,
  parts: (content?.parts ?? []).map(change),
});

/** A session and all forks of the same origin, in the order of creation. */
export function familyOf(sessions: readonly Session[], sessionId: string): Session[] {
  const byId = new Map(sessions.map((session) => [session.id, session]));
  const rootOf = (session: Session): string => {
    let current = session;
    for (let steps = 0; steps < sessions.length; steps += 1) {
      const parent = byId.get(metadataOf(current).forkedFrom?.sessionId ?? '');
      if (!parent) break;
      current = parent;
    }
    return current.id;
  };
  const own = byId.get(sessionId);
  if (!own) return [];
  const root = rootOf(own);
  return sessions.filter((session) => rootOf(session) === root).toReversed();
}
