import type { SessionKey } from '../../../schemas/session.ts';
import { requirePlausible } from '../../plausible-time.ts';
import type { RetentionLimits } from '../../retention.ts';
import type { VertexApi } from '../../vertex/vertex-api.ts';
import { idOf, readSession } from './agent-engine-records.ts';

/** The app name for sessions of other servers, which have none. */
const unknownApp = 'agent_engine';

/** All sessions of an engine, in the order they were created. */
export async function* sessionsOf(api: VertexApi): AsyncGenerator<SessionKey, void, void> {
  for await (const body of api.list('/sessions', 'sessions', { orderBy: 'create_time' })) {
    const found = readSession(body);
    yield { appName: found.own?.appName ?? unknownApp, userId: found.userId, sessionId: idOf(found) };
  }
}

/** Our sessions beyond the limits. Sessions of other servers are never deleted. */
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
    requirePlausible(writtenAt * 1000, `Session "${own.id}" of app "${own.appName}"`, 'updateTime');
    sessions.push({ key, writtenAt });
  }
  const oldest = sessions.toSorted((a, b) => a.writtenAt - b.writtenAt);
  const surplus = oldest.length - (maxSessions ?? oldest.length);
  const before = sessionTtlMs === undefined ? -Infinity : (Date.now() - sessionTtlMs) / 1000;
  const outdated = oldest.filter(({ writtenAt }, index) => index < surplus || writtenAt < before);
  return outdated.slice(0, limit).map(({ key }) => key);
}
