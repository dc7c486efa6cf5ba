import type { SessionKey } from '../../schemas/session.ts';
import { requireCredible } from '../credible-time.ts';
import type { RetentionLimits } from '../retention.ts';
import type { VertexApi } from '../vertex/vertex-api.ts';
import { idOf, readSession } from './agent-engine-records.ts';

/** The app that sessions of other servers are told to belong to: they have none. */
const unknownApp = 'agent_engine';

/** All sessions of an engine, in the order they were created. */
export async function* sessionsOf(api: VertexApi): AsyncGenerator<SessionKey, void, void> {
  for await (const body of api.list('/sessions', 'sessions', { orderBy: 'create_time' })) {
    const found = readSession(body);
    yield { appName: found.own?.appName ?? unknownApp, userId: found.userId, sessionId: idOf(found) };
  }
}

/** Sessions beyond the limits. Only ours count: what other servers keep in the engine is theirs to delete. */
export async function outdatedOf(
  api: VertexApi,
  { sessionTtlMs, maxSessions }: RetentionLimits,
  limit: number,
): Promise<SessionKey[]> {
  const sessions: { key: SessionKey; writtenAt: number }[] = [];
  for await (const body of api.list('/sessions', 'sessions', { orderBy: 'update_time' })) {
    const { own, userId, updateTime } = readSession(body);
    if (!own) continue;
    const writtenAt = Math.max(own.lastUpdateTime, updateTime);
    const key = { appName: own.appName, userId, sessionId: own.id };
    requireCredible(writtenAt * 1000, `Session "${own.id}" of app "${own.appName}"`, 'updateTime');
    sessions.push({ key, writtenAt });
  }
  const oldest = sessions.toSorted((a, b) => a.writtenAt - b.writtenAt);
  const surplus = oldest.length - (maxSessions ?? oldest.length);
  const before = sessionTtlMs === undefined ? -Infinity : (Date.now() - sessionTtlMs) / 1000;
  const outdated = oldest.filter(({ writtenAt }, index) => index < surplus || writtenAt < before);
  return outdated.slice(0, limit).map(({ key }) => key);
}
