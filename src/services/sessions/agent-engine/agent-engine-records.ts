import { createHash } from 'node:crypto';
import { z } from 'zod';
import { isJsonObject, type JsonObject } from '../../../base/json.ts';
import type { SessionKey } from '../../../schemas/session.ts';
import { textIn } from '../../vertex/vertex-api.ts';
import { applyDelta } from '../state-scopes.ts';
import { microsOf, ownKey } from './agent-engine-events.ts';

const OwnRecord = z.object({
  appName: z.string(),
  id: z.string(),
  /** Identifies the create request, to recognize our own session. */
  made: z.string(),
  /** Seconds since the epoch. */
  lastUpdateTime: z.number(),
  /** Set for an event that a client imported. */
  imported: z.boolean().optional(),
});
export type OwnRecord = z.infer<typeof OwnRecord>;

/** A session in the service. */
export interface EngineSession {
  /** The full name of the resource. */
  readonly name: string;
  readonly userId: string;
  readonly state: JsonObject;
  /** Absent in sessions of other servers, which every app lists. */
  readonly own: OwnRecord | undefined;
  /** Seconds since the epoch, by the service's clock. */
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

/** Ids that the service accepts. */
const plainId = /^[a-z](?:[a-z\d-]{0,61}[a-z\d])?$/;
const numericId = /^\d{1,63}$/;

/** The last part of a session's resource name: its id, or a digest if the service does not accept the id. */
export function resourceId(id: string): string {
  if (plainId.test(id) || numericId.test(id)) return id;
  return `x${createHash('sha256').update(id).digest('hex').slice(0, 60)}`;
}

/** Identifies the session: for those of other servers by the time of creation. */
export const generationOf = ({ own, createTime }: EngineSession): string => own?.made ?? String(createTime);

export const idOf = ({ name, own }: EngineSession): string => own?.id ?? name.split('/').at(-1) ?? '';

/** Whether the session belongs to the key's app and user: ids are unique per engine, not per user. */
export function isSession(
  session: EngineSession,
  { appName, userId, sessionId }: SessionKey,
  anyUser: boolean,
): boolean {
  if (session.own && (session.own.appName !== appName || session.own.id !== sessionId)) return false;
  return anyUser || session.userId === userId;
}
