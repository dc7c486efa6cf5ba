import type { Event } from '../../../src/schemas/event.ts';
import type { Session, SessionKey, SessionOwner, SessionRequest, State } from '../../../src/schemas/session.ts';
import { getJson, path, sendJson } from './server.ts';

export type { Event, Session, SessionKey, SessionOwner, State };

const ownerPath = ({ appName, userId }: SessionOwner): string => path`apps/${appName}/users/${userId}/sessions`;
export const sessionPath = (key: SessionKey): string => `${ownerPath(key)}/${encodeURIComponent(key.sessionId)}`;

/** Newest first, without events. */
export async function listSessions(owner: SessionOwner, signal?: AbortSignal): Promise<Session[]> {
  const sessions = await getJson<Session[]>(ownerPath(owner), signal);
  return sessions.toSorted((a, b) => b.lastUpdateTime - a.lastUpdateTime);
}

export const createSession = (owner: SessionOwner, body: SessionRequest = {}): Promise<Session> =>
  sendJson('POST', ownerPath(owner), body);

/** `recent` limits the events to the last ones. */
export const readSession = (
  key: SessionKey,
  options: { recent?: number; signal?: AbortSignal } = {},
): Promise<Session> =>
  getJson(sessionPath(key) + (options.recent ? `?numRecentEvents=${options.recent}` : ''), options.signal);

/** Merges into the state; `null` deletes a key. */
export const patchState = (key: SessionKey, stateDelta: State): Promise<Session> =>
  sendJson('PATCH', sessionPath(key), { stateDelta });

export const deleteSession = (key: SessionKey): Promise<null> => sendJson('DELETE', sessionPath(key));

/** Rewinds the session to before an invocation; its events stay in the history. */
export const rewindSession = (key: SessionKey, invocationId: string): Promise<Session> =>
  sendJson('POST', `${sessionPath(key)}/rewind`, { invocationId });
