import { AppError } from '../../base/errors.ts';
import { deepFreeze } from '../../base/json.ts';
import type { EventPage } from '../../core/services.ts';
import type { Event, EventActions } from '../../schemas/event.ts';
import type { GetSessionConfig } from '../../schemas/session.ts';
import { withoutTemp } from './state-scopes.ts';

/** Ids that start so belong to evaluation runs: kept out of lists, found under any user of their app. */
const evaluationPrefix = '___eval___session___';

export const isEvaluationSession = (sessionId: string): boolean => sessionId.startsWith(evaluationPrefix);

/** The event as it is stored: frozen, without `temp:` keys. The event handed in becomes the store's. */
export function storedEvent(event: Event): Event {
  const delta = event.actions.stateDelta;
  const kept = withoutTemp(delta);
  const own = kept === delta ? event : { ...event, actions: { ...event.actions, stateDelta: kept } };
  if (!Object.isFrozen(own.actions)) shareEmptyMaps(own.actions);
  return deepFreeze(own);
}

const empty = Object.freeze({});

/** Most events change nothing: four maps each would be a fifth of what a session weighs. */
function shareEmptyMaps(actions: EventActions): void {
  if (isEmpty(actions.stateDelta)) actions.stateDelta = empty;
  if (isEmpty(actions.artifactDelta)) actions.artifactDelta = empty;
  if (isEmpty(actions.requestedAuthConfigs)) actions.requestedAuthConfigs = empty;
  if (isEmpty(actions.requestedToolConfirmations)) actions.requestedToolConfirmations = empty;
}

function isEmpty(map: object): boolean {
  for (const _ in map) return false;
  return true;
}

/** A new array of the events a reader asked for: the last so many first, then those that are late enough. */
export function windowOf(events: readonly Event[], config: GetSessionConfig = {}): Event[] {
  const { numRecentEvents = 0, afterTimestamp } = config;
  const recent = events.slice(numRecentEvents > 0 ? -numRecentEvents : 0);
  return afterTimestamp === undefined ? recent : recent.filter((event) => event.timestamp >= afterTimestamp);
}

const defaultPageSize = 100;
const maxPageSize = 1000;

/** Which events a page covers: `size` of them from the 0-based position `start`. Throws `invalid_request`. */
export function pageBounds({ pageSize = defaultPageSize, pageToken }: EventPage = {}): { start: number; size: number } {
  if (!Number.isInteger(pageSize) || pageSize < 1) {
    throw new AppError('invalid_request', `A page size must be a whole number above 0, not "${pageSize}"`);
  }
  return { start: pageToken === undefined ? 0 : positionOf(pageToken), size: Math.min(pageSize, maxPageSize) };
}

/** The token of the page that starts at a position. Its form is nobody's business. */
export const pageTokenFor = (position: number): string => Buffer.from(`events:${position}`).toString('base64url');

function positionOf(token: string): number {
  const match = /^events:(\d{1,15})$/.exec(Buffer.from(token, 'base64url').toString());
  if (!match) throw new AppError('invalid_request', `"${token}" is not a page token`);
  return Number(match[1]);
}
