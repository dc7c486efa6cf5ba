import { AppError } from '../base/errors.ts';
import { freezeEvent } from '../core/events/frozen-event.ts';
import { hasHook, reviewEvent } from '../core/hooks.ts';
import type { RunContext } from '../core/runtime.ts';
import type { Event } from '../schemas/event.ts';
import { writable } from '../schemas/session.ts';

/** Freezes and stores an event. Throws `agent_failed` for one that cannot become JSON: with it, no store could give the session back. */
export function append(event: Event, { services, session }: RunContext): Promise<Event> {
  const fault = event.partial ? undefined : freezeEvent(event);
  if (fault === undefined) return services.sessions.appendEvent(writable(session), event);
  const why = `An event of "${event.author}" cannot be stored: ${fault}`;
  return Promise.reject(new AppError('agent_failed', why));
}

/** Lets plugins replace the event, then stores it unless it is a chunk or `isKept` is false. Clients get the stored event. */
export function store(event: Event, ctx: RunContext, isKept = true): Promise<Event> {
  if (hasHook(ctx, 'onEvent')) return storeReviewed(event, ctx, isKept);
  return isKept ? append(event, ctx) : Promise.resolve(event);
}

async function storeReviewed(event: Event, ctx: RunContext, isKept: boolean): Promise<Event> {
  const shown = await reviewEvent(ctx, event);
  return isKept ? append(shown, ctx) : shown;
}
