import type { Content, FunctionResponse } from '../../../src/schemas/content.ts';
import type { Event } from '../../../src/schemas/event.ts';
import type { SessionKey } from '../../../src/schemas/session.ts';
import { messageOf } from '../api/server.ts';
import { createSession, forkSession, rewindSession, type Session } from '../api/sessions.ts';
import { toast } from '../parts/toasts.tsx';
import { runOptions } from './composer/run-options.tsx';
import { metadataOf, metadataState, sessionAddress, type SessionMetadata } from './names.ts';
import { navigate } from './place.ts';
import { refreshSessions } from './queries.ts';
import type { RunOptions, Workspace } from './workspace.ts';
import { acquire, release } from './workspaces.ts';

/** A fork to be: how much of the history it keeps, what is different in it, and what is sent there. */
interface ForkPlan {
  /** The last event it keeps; `null` keeps none. */
  readonly keep: Event | null;
  /** In words. */
  readonly change: string;
  readonly message?: Content;
  readonly options?: RunOptions;
  readonly state?: Record<string, unknown>;
}

/** Makes a fork, goes there, and sends what it is for. The original is never touched. Failures show as a toast. */
export async function forkAndRun(workspace: Workspace, plan: ForkPlan): Promise<void> {
  const { key } = workspace;
  try {
    const state = { ...plan.state, ...metadataState(metadataFor(workspace, plan)) };
    const session = plan.keep ? await forkSession(key, plan.keep.id, state) : await createSession(key, { state });
    const fork: SessionKey = { ...key, sessionId: session.id };
    void refreshSessions(key); // a list that is late is no failure
    const opened = acquire(fork);
    navigate(sessionAddress(fork));
    await opened.open();
    if (plan.message) await opened.send(plan.message, { ...runOptions(), ...plan.options });
    release(fork);
  } catch (error) {
    toast(messageOf(error), { tone: 'error' });
  }
}

function metadataFor({ key, log }: Workspace, { keep, change }: ForkPlan): SessionMetadata {
  const displayName = metadataOf(log).displayName ?? `Session ${key.sessionId.slice(0, 8)}`;
  const forkedFrom = { sessionId: key.sessionId, ...(keep && { eventId: keep.id }) };
  return { displayName, forkedFrom, change };
}

/** The event before a position that a rewind has not taken back. */
export function eventBefore({ log }: Workspace, position: number): Event | null {
  for (let index = position - 1; index >= 0; index -= 1) {
    const event = log.events[index];
    if (event && !log.isRewound(index) && event.actions.rewindBeforeInvocationId === undefined) return event;
  }
  return null;
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

/** Runs the turn of an event again from its message, or from another one in its place, in a fork. */
export async function rerun(workspace: Workspace, event: Event, message?: Content): Promise<void> {
  const source = messageBehind(workspace, event);
  const content = message ?? source?.content;
  if (!source || !content) return;
  await forkAndRun(workspace, {
    keep: eventBefore(workspace, workspace.log.positionOf(source.id) ?? 0),
    change: message ? 'another message' : 'run again',
    message: content,
  });
}

/** Takes the session back to before an event's turn and sends its message again: for a turn that failed. */
export async function retry(workspace: Workspace, event: Event): Promise<void> {
  const content = messageBehind(workspace, event)?.content;
  if (!content || !(await rewind(workspace, event))) return;
  await workspace.send(content, runOptions());
}

/** Takes the session back to before the turn of an event. Failures show as a toast and answer false. */
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

/**
 * Runs on in a fork as if a tool had answered something else. The fork ends at the calls, and their results are sent:
 * the changed one and, as they were, those of the calls beside it.
 */
export async function runWithResult(workspace: Workspace, call: Event, changed: FunctionResponse): Promise<void> {
  const ids = new Set((call.content?.parts ?? []).flatMap((part) => part.functionCall?.id ?? []));
  const others = responsesTo(workspace, ids).filter(({ id }) => id !== changed.id);
  await forkAndRun(workspace, {
    keep: call,
    change: `another result of ${changed.name}`,
    message: { role: 'user', parts: [...others, changed].map((functionResponse) => ({ functionResponse })) },
    options: { functionCallEventId: call.id },
  });
}

function responsesTo({ log }: Workspace, ids: ReadonlySet<string>): FunctionResponse[] {
  return log.events
    .flatMap((event) => event.content?.parts ?? [])
    .flatMap(({ functionResponse }) =>
      functionResponse && ids.has(functionResponse.id ?? '') ? [functionResponse] : [],
    );
}

/** A session and all that were forked from the same one, in the order they were made. */
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
