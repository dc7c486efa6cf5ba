import { createHash } from 'node:crypto';
import { z } from 'zod';
import { isJsonObject, type JsonObject } from '../../base/json.ts';
import type { SessionKey } from '../../schemas/session.ts';
import { textIn } from '../vertex/vertex-api.ts';
import { microsOf, ownKey } from './agent-engine-events.ts';
import { applyDelta } from './state-scopes.ts';

const OwnRecord = z.object({
  appName: z.string(),
  id: z.string(),
  /** Names who created it, to know our own again. */
  made: z.string(),
  /** Seconds since the epoch. */
  lastUpdateTime: z.number(),
  /** Set in what an event wrote that a client brought along. */
  imported: z.boolean().optional(),
});
export type OwnRecord = z.infer<typeof OwnRecord>;

/** A session as it lies there. */
export interface EngineSession {
  /** The full name of the resource. */
  readonly name: string;
  readonly userId: string;
  readonly state: JsonObject;
  /** Absent in sessions of other servers: these show in every app. */
  readonly own: OwnRecord | undefined;
  /** Seconds since the epoch, by the clock there. */
  readonly createTime: number;
  readonly updateTime: number;
}

export function readSession(body: JsonObject): EngineSession {
  const stored = isJsonObject(body['sessionState']) ? body['sessionState'] : {};
  const own = OwnRecord.safeParse(Object.hasOwn(stored, ownKey) ? stored[ownKey] : undefined).data;
  const state: JsonObject = {};
  applyDelta(state, stored);
  delete state[ownKey];
  return {
    name: textIn(body['name']),
    userId: textIn(body['userId']),
    state,
    own,
    createTime: microsOf(body['createTime']) / 1e6,
    updateTime: microsOf(body['updateTime'] ?? body['createTime']) / 1e6,
  };
}

/** What an id may look like there. */
const plainId = /^[a-z](?:[a-z\d-]{0,61}[a-z\d])?$/;
const numericId = /^\d{1,63}$/;

/** The last part of the name of a session: its id, or a digest of one that may not stand there. */
export function resourceId(id: string): string {
  if (plainId.test(id) || numericId.test(id)) return id;
  return `x${createHash('sha256').update(id).digest('hex').slice(0, 60)}`;
}

/** Sessions of other servers are told apart by when they were created. */
export const generationOf = ({ own, createTime }: EngineSession): string => own?.made ?? String(createTime);

export const idOf = ({ name, own }: EngineSession): string => own?.id ?? name.split('/').at(-1) ?? '';

/** Whether the session is the one that is meant: ids are those of an engine, not of a user of an app. */
export function isSession(
  session: EngineSession,
  { appName, userId, sessionId }: SessionKey,
  anyUser: boolean,
): boolean {
  if (session.own && (session.own.appName !== appName || session.own.id !== sessionId)) return false;
  return anyUser || session.userId === userId;
}
