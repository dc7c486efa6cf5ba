import { eventsOf } from '../../core/events/event-pages.ts';
import { isShown } from '../../core/run-status.ts';
import type { StreamedEvent, RunKey } from '../../core/runs.ts';
import type { SessionService } from '../../core/services.ts';

/** The id of a stored event of a run, and its number among the run's events, from 1. */
export interface EventAnchor {
  readonly number: number;
  readonly eventId: string;
}

/**
 * Yields the stored events of a run after its first `after` ones. An anchor at or before the first of them saves reading
 * the session from its beginning. Throws `session_not_found`.
 */
export async function* storedEvents(
  sessions: Pick<SessionService, 'listEvents'>,
  key: RunKey,
  after: number,
  anchor?: EventAnchor,
): AsyncGenerator<StreamedEvent, void, void> {
  const { number: first, eventId: from } = anchor && anchor.number <= after + 1 ? anchor : { number: 1 };
  let events = first - 1;
  for await (const event of eventsOf(sessions, key, { from })) {
    if (event.invocationId !== key.runId || !isShown(event)) continue;
    events += 1;
    if (events > after) yield { event, events, chunks: 0 };
  }
}
