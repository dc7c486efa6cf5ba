import type { MemoryEntry } from '../../../src/schemas/records.ts';
import type { SessionKey, SessionOwner } from '../../../src/schemas/session.ts';
import { getJson, path, sendJson } from './server.ts';

const memoryPath = ({ appName, userId }: SessionOwner): string => path`apps/${appName}/users/${userId}/memory`;

/** What is remembered of a user that holds any of the words, oldest first. */
export const searchMemory = async (owner: SessionOwner, q: string, signal?: AbortSignal): Promise<MemoryEntry[]> =>
  (await getJson<{ memories: MemoryEntry[] }>(`${memoryPath(owner)}?${new URLSearchParams({ q })}`, signal)).memories;

/** Has a session remembered as it is now, in the place of what was remembered of it before. */
export const rememberSession = (key: SessionKey): Promise<null> =>
  sendJson('PATCH', memoryPath(key), { sessionId: key.sessionId });
