import type { Event } from '../../schemas/event.ts';
import type { SessionKey } from '../../schemas/session.ts';
import type { EventPage, SessionService } from '../services.ts';

/** Bytes of events in one page. */
const pageBytes = 256 * 1024;

/**
 * The events of a session in stored order, read page by page on demand: a history of any size takes the memory of one
 * page. Throws what `listEvents` throws.
 */
export async function* eventsOf(
  sessions: Pick<SessionService, 'listEvents'>,
  key: SessionKey,
  range: Pick<EventPage, 'from' | 'after' | 'before'> = {},
): AsyncGenerator<Event, void, void> {
  let pageToken: string | undefined;
  do {
    const page = await sessions.listEvents(key, {
      ...range,
      maxBytes: pageBytes,
      pageSize: 1_000,
      ...(pageToken !== undefined && { pageToken }),
    });
    yield* page.events;
    pageToken = page.nextPageToken;
  } while (pageToken !== undefined);
}
