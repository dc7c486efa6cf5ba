import { randomUUID } from 'node:crypto';
import { AppError } from '../base/errors.ts';
import { yieldWhenDue } from '../base/event-loop.ts';
import { define } from '../base/json.ts';
import { withoutCredentials } from '../core/events/credential-answers.ts';
import { activeEvents, stateDeltaBackTo } from '../core/events/history.ts';
import { importedCount } from '../core/events/imported-events.ts';
import { newEvent } from '../core/events/new-event.ts';
import type { Services } from '../core/services.ts';
import { asUserMessage, modelPartIn } from '../schemas/content-schema.ts';
import type { Content } from '../schemas/content.ts';
import { type Event, newActions } from '../schemas/event.ts';
import { generation, keyOf, type Session, type SessionKey, type State } from '../schemas/session.ts';
import { applyDelta } from '../services/sessions/state-scopes.ts';
import { sessionNotFound } from './queue/run-queue.ts';

export interface ForkRequest {
  /** The last event the fork keeps; absent: all. */
  readonly eventId?: string | undefined;
  /** Instead of `eventId`: the first event the fork does not keep. */
  readonly beforeEventId?: string | undefined;
  /** The id of the new session; absent: generated. */
  readonly sessionId?: string | undefined;
  /** Replaces the content of the last kept event, which gets a new id. */
  readonly content?: Content | undefined;
  /** Whether `content` may replace a user's message only, and not an agent's event. */
  readonly userEventsOnly?: boolean | undefined;
  /** Merged into the state after the last kept event; `null` and the removal marker delete a key. */
  readonly state?: State | undefined;
}

/**
 * A new session with the history, state and artifacts that the old one had after an event. Throws `session_not_found`,
 * `event_not_found`, `session_exists`, `import_not_allowed` for replacing an agent's content where that is forbidden,
 * and `invalid_request` for replacing content when no event is kept. The old session does not change.
 */
export async function forkSession(services: Services, key: SessionKey, request: ForkRequest): Promise<Session> {
  const session = await requireSession(services, key);
  await yieldWhenDue();
  const events = activeEvents(session.events);
  const kept = events.slice(0, keptCount(events, request));
  const initial = (await services.sessions.initialState?.(session)) ?? {};
  const atEnd = ownState(session.state);
  await yieldWhenDue();
  applyDelta(atEnd, stateDeltaBackTo(events, kept.length, initial));
  await yieldWhenDue();
  applyDelta(atEnd, request.state ?? {});
  await yieldWhenDue();
  const state = stateBefore(atEnd, kept, initial);
  const imported = importedCount(kept);
  changeLast(kept, request);
  await yieldWhenDue();
  const fork = await services.sessions.createSession(key, {
    state,
    events: kept,
    imported,
    ...(request.sessionId === undefined ? {} : { sessionId: request.sessionId }),
  });
  await copyArtifacts(services, { from: key, to: keyOf(fork), versions: artifactVersions(kept) });
  const source = await services.sessions.getSession(key, { numRecentEvents: 1 });
  if (source && source[generation] === session[generation]) return fork;
  // The source was deleted meanwhile: the copy may lack artifacts, or have some of a new session with the same id.
  await services.artifacts?.deleteSessionArtifacts(keyOf(fork));
  await services.sessions.deleteSession(keyOf(fork), fork[generation]);
  throw sessionNotFound(key);
}

/**
 * Rewinds a session to before an invocation: later runs do not see the events from there on, their state changes are
 * undone, and artifacts they saved get the version before as their newest. The stored history itself stays. Throws
 * `session_not_found` and `event_not_found`.
 */
export async function rewindSession(services: Services, key: SessionKey, invocationId: string): Promise<Session> {
  const session = await requireSession(services, key);
  const events = activeEvents(session.events);
  const count = events.findIndex((event) => event.invocationId === invocationId);
  if (count < 0) throw new AppError('event_not_found', `Invocation not found: ${invocationId}`);
  const actions = {
    ...newActions(),
    stateDelta: stateDeltaBackTo(events, count, await services.sessions.initialState?.(session)),
    artifactDelta: await restoreArtifacts(services, key, {
      before: events.slice(0, count),
      after: events.slice(count),
    }),
    rewindBeforeInvocationId: invocationId,
  };
  await services.sessions.appendEvent(session, newEvent({ invocationId: `e-${randomUUID()}` }, 'user', { actions }));
  return requireSession(services, key);
}

function keptCount(events: readonly Event[], { eventId, beforeEventId }: ForkRequest): number {
  const named = eventId ?? beforeEventId;
  if (named === undefined) return events.length;
  const place = events.findIndex(({ id }) => id === named);
  if (place < 0) throw new AppError('event_not_found', `Event not found: ${named}`);
  return eventId === undefined ? place : place + 1;
}

/**
 * Gives the last event the requested content, and those requested state keys that the kept events would overwrite
 * otherwise. It gets a new id then, because what belongs to the old event, such as its trace, is not true of this one.
 */
function changeLast(kept: Event[], { content, state = {}, userEventsOnly }: ForkRequest): void {
  const written = new Set(kept.flatMap((event) => Object.keys(event.actions.stateDelta)));
  const delta = Object.fromEntries(Object.entries(state).filter(([key]) => written.has(key)));
  if (!content && Object.keys(delta).length === 0) return;
  const last = kept.pop();
  if (!last) throw new AppError('invalid_request', 'The fork keeps no event whose content could be changed');
  const actions = { ...last.actions, stateDelta: { ...last.actions.stateDelta, ...delta } };
  const replacement =
    content && (last.author === 'user' ? userContent(content) : agentContent(content, userEventsOnly));
  kept.push({ ...last, id: randomUUID(), actions, ...(replacement && { content: replacement }) });
}

function userContent(content: Content): Content {
  const modelPart = modelPartIn(content);
  if (modelPart === undefined) return asUserMessage(withoutCredentials(content).message);
  throw new AppError('invalid_request', `content: must not contain a part that only models may use (${modelPart})`);
}

function agentContent(content: Content, userEventsOnly = false): Content {
  if (!userEventsOnly) return content;
  throw new AppError('import_not_allowed', 'Clients may not replace the content of an agent here');
}

/** Rolls back a run that has just ended, and the events after it. Does nothing if the run stored no event. */
export async function rollBackRun(services: Services, key: SessionKey, runId: string): Promise<void> {
  try {
    await rewindSession(services, key, runId);
  } catch (error) {
    if (!(error instanceof AppError && error.code === 'event_not_found')) throw error;
  }
}

async function requireSession(services: Services, key: SessionKey): Promise<Session> {
  const session = await services.sessions.getSession(key);
  if (!session) throw sessionNotFound(key);
  return session;
}

/** The session's own keys: without `app:` and `user:` keys, which the new session reads anyway. */
function ownState(state: State): State {
  const own: State = {};
  for (const key in state) if (!/^(?:app|user|temp):/.test(key)) define(own, key, state[key]);
  return own;
}

/** The state before the events: keys they wrote have their initial value, so that a fork can be rewound, too. */
function stateBefore(state: State, events: readonly Event[], initial: State): State {
  const written = new Set(events.flatMap((event) => Object.keys(event.actions.stateDelta)));
  if (written.size === 0) return state;
  const before: State = {};
  for (const key in state) if (!written.has(key)) define(before, key, state[key]);
  for (const key in initial) if (written.has(key)) define(before, key, initial[key]);
  return before;
}

/** The newest version of each session artifact that the events saved. */
function artifactVersions(events: readonly Event[]): Map<string, number> {
  const versions = new Map<string, number>();
  for (const event of events) {
    for (const [name, version] of Object.entries(event.actions.artifactDelta)) {
      if (!name.startsWith('user:')) versions.set(name, version);
    }
  }
  return versions;
}

/** Copies every version up to the newest in the fork's events, under its number, so that the numbers in its events stay valid. */
async function copyArtifacts(
  { artifacts }: Services,
  { from, to, versions }: { from: SessionKey; to: SessionKey; versions: ReadonlyMap<string, number> },
): Promise<void> {
  if (!artifacts) return;
  for (const [name, newest] of versions) {
    for (const { version, customMetadata: metadata } of await artifacts.listVersions(from, name)) {
      const part = version <= newest ? await artifacts.loadArtifact(from, name, version) : undefined;
      if (!part) continue;
      if (artifacts.saveArtifactCopy) await artifacts.saveArtifactCopy(to, name, part, { version, metadata });
      else await artifacts.saveArtifact(to, name, part, metadata);
    }
  }
}

async function restoreArtifacts(
  { artifacts }: Services,
  key: SessionKey,
  { before, after }: { before: readonly Event[]; after: readonly Event[] },
): Promise<Record<string, number>> {
  const delta: Record<string, number> = {};
  const kept = artifactVersions(before);
  for (const name of artifactVersions(after).keys()) {
    const version = kept.get(name);
    if (version === undefined) await artifacts?.deleteArtifact(key, name);
    else {
      const part = await artifacts?.loadArtifact(key, name, version);
      if (artifacts && part) delta[name] = await artifacts.saveArtifact(key, name, part);
    }
  }
  return delta;
}
