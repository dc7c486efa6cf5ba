import { eventsOf } from '../../core/event-pages.ts';
import { isShown } from '../../core/run-status.ts';
import type { Frame, RunKey } from '../../core/runs.ts';
import type { SessionService } from '../../core/services.ts';

/** A whole event of a run, and its number among them. */
export interface Landmark {
  readonly whole: number;
  readonly eventId: string;
}

/**
 * The whole events of a run behind the first `after`, as its session has stored them. A landmark at or before the first
 * of them saves reading the session from its beginning. Throws `session_not_found`.
 */
export async function* storedFrames(
  sessions: Pick<SessionService, 'listEvents'>,
  key: RunKey,
  after: number,
  landmark?: Landmark,
): AsyncGenerator<Frame, void, void> {
  const { whole: first, eventId: from } = landmark && landmark.whole <= after + 1 ? landmark : { whole: 1 };
  let whole = first - 1;
  for await (const event of eventsOf(sessions, key, { from })) {
    if (event.invocationId !== key.runId || !isShown(event)) continue;
    whole += 1;
    if (whole > after) yield { event, whole, piece: 0 };
  }
}
