import type { MemoryEntry } from '../../../src/schemas/records.ts';
import type { SessionKey, SessionOwner } from '../../../src/schemas/session.ts';
import { getJson, path, sendJson } from './server.ts';

const memoryPath = ({ appName, userId }: SessionOwner): string => path`apps/${appName}/users/${userId}/memory`;

/** Memories of a user that contain any of the words, oldest first. */
export const searchMemory = async (owner: SessionOwner, q: string, signal?: AbortSignal): Promise<MemoryEntry[]> =>
  (await getJson<{ memories: MemoryEntry[] }>(`${memoryPath(owner)}?${new URLSearchParams({ q })}`, signal)).memories;

/** Adds the current session to the memory, and replaces its earlier memories. */
export const rememberSession = (key: SessionKey): Promise<null> =>
  sendJson('PATCH', memoryPath(key), { sessionId: key.sessionId });
