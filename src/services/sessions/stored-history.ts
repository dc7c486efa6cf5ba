import { AppError } from '../../base/errors.ts';
import { deepFreeze } from '../../base/json.ts';
import { roughSize } from '../../base/rough-size.ts';
import { shareEmptyMaps } from '../../core/events/frozen-event.ts';
import type { EventPage } from '../../core/services.ts';
import type { Event } from '../../schemas/event.ts';
import type { ListEventsResponse } from '../../schemas/records.ts';
import type { GetSessionConfig } from '../../schemas/session.ts';
import { withoutTemp } from './state-scopes.ts';

/** The event in its stored form: frozen, and without `temp:` keys, whatever the store. May freeze and use the given object. */
export function storedEvent(event: Event): Event {
  const delta = event.actions.stateDelta;
  const kept = withoutTemp(delta);
  const own = kept === delta ? event : { ...event, actions: { ...event.actions, stateDelta: kept } };
  shareEmptyMaps(own);
  return deepFreeze(own);
}

/** A new array of the requested events: limited to the newest `numRecentEvents`, then filtered by `afterTimestamp`. */
export function windowOf(events: readonly Event[], config: GetSessionConfig = {}): Event[] {
  const { numRecentEvents = 0, afterTimestamp } = config;
  const recent = events.slice(numRecentEvents > 0 ? -numRecentEvents : 0);
  return afterTimestamp === undefined ? recent : recent.filter((event) => event.timestamp >= afterTimestamp);
}

const defaultPageSize = 100;
const maxPageSize = 1000;
const maxPageBytes = 16 * 1024 * 1024;

/** The range of a page: at most the events at the positions from `start` to before `end`. */
export interface PageRange {
  readonly start: number;
  readonly end: number;
  /** Whether the page is read from its end. */
  readonly isDescending: boolean;
  readonly maxBytes: number;
  /** The token of the next page, if this one has `count` events; `undefined` for the last page. */
  readonly tokenAfter: (count: number) => string | undefined;
}

/**
 * Computes the range of a page of `total` events, with positions from 0. `positionOf` finds an event by its id; it is called
 * only for ids in the request. Throws `invalid_request`, `event_not_found`.
 */
export function pageRange(
  { pageSize = defaultPageSize, maxBytes = maxPageBytes, pageToken, order = 'asc', from, after, before }: EventPage,
  total: number,
  positionOf: (eventId: string) => number | undefined,
): PageRange {
  if (!Number.isInteger(pageSize) || pageSize < 1) {
    throw new AppError('invalid_request', `A page size must be a whole number above 0, not "${pageSize}"`);
  }
  const size = Math.min(pageSize, maxPageSize);
  const place = (eventId: string): number => {
    const found = positionOf(eventId);
    if (found === undefined) throw new AppError('event_not_found', `Event not found: ${eventId}`);
    return found;
  };
  const goesOnAt = pageToken === undefined ? undefined : positionIn(pageToken);
  const low = after === undefined ? 0 : place(after) + 1;
  const high = before === undefined ? total : place(before);
  if (order === 'asc') {
    const start = Math.max(low, goesOnAt ?? (from === undefined ? 0 : place(from)));
    const end = Math.max(start, Math.min(high, start + size));
    const tokenAfter = (count: number): string | undefined =>
      start + count < high ? tokenFor(start + count) : undefined;
    return { start, end, isDescending: false, maxBytes, tokenAfter };
  }
  const end = Math.min(high, goesOnAt ?? (from === undefined ? total : place(from) + 1));
  const start = Math.min(end, Math.max(low, end - size));
  const tokenAfter = (count: number): string | undefined => (end - count > low ? tokenFor(end - count) : undefined);
  return { start, end, isDescending: true, maxBytes, tokenAfter };
}

/** A page of a history in memory. */
export function pageOf(
  history: readonly Event[],
  page: EventPage,
  positionOf: (eventId: string) => number | undefined,
): ListEventsResponse {
  const range = pageRange(page, history.length, positionOf);
  const { start, end, isDescending, maxBytes } = range;
  const candidates = history.slice(start, end);
  if (isDescending) candidates.reverse();
  let bytes = 0;
  const full = candidates.findIndex((event) => (bytes += roughSize(event)) >= maxBytes);
  const events = full < 0 ? candidates : candidates.slice(0, full + 1);
  return pageAnswer(events, history.length, range.tokenAfter(events.length));
}

export const pageAnswer = (events: Event[], total: number, nextPageToken: string | undefined): ListEventsResponse => ({
  events,
  total,
  ...(nextPageToken === undefined ? {} : { nextPageToken }),
});

/** The opaque token for the start of the next page (descending: its end). */
const tokenFor = (position: number): string => Buffer.from(`events:${position}`).toString('base64url');

function positionIn(token: string): number {
  const match = /^events:(\d{1,15})$/.exec(Buffer.from(token, 'base64url').toString());
  if (!match) throw new AppError('invalid_request', `"${token}" is not a page token`);
  return Number(match[1]);
}
