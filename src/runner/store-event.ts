import { AppError } from '../base/errors.ts';
import { freezeEvent } from '../core/frozen-event.ts';
import type { RunContext } from '../core/runtime.ts';
import type { Event } from '../schemas/event.ts';
import { firstAnswer } from './plugins.ts';

/** Freezes and stores an event. Throws `agent_failed` for one that cannot become JSON: with it, no store could give the session back. */
export function append(event: Event, { services, session }: RunContext): Promise<Event> {
  const fault = event.partial ? undefined : freezeEvent(event);
  if (fault === undefined) return services.sessions.appendEvent(session, event);
  const why = `An event of "${event.author}" cannot be stored: ${fault}`;
  return Promise.reject(new AppError('agent_failed', why));
}

/** Lets plugins replace the event, then stores it unless it is partial or not to be kept: what is stored is what is shown. */
export function store(event: Event, ctx: RunContext, isKept = true): Promise<Event> {
  if (ctx.plugins.length > 0) return storeReviewed(event, ctx, isKept);
  return isKept ? append(event, ctx) : Promise.resolve(event);
}

async function storeReviewed(event: Event, ctx: RunContext, isKept: boolean): Promise<Event> {
  const replacement = await firstAnswer(ctx, 'onEvent', (plugin) => plugin.onEvent?.(ctx, event));
  const { id, invocationId, timestamp, author, branch } = event;
  const shown = replacement && {
    ...replacement,
    id,
    invocationId,
    timestamp,
    author: replacement.author || author,
    ...(branch === undefined ? {} : { branch: replacement.branch ?? branch }),
  };
  return isKept ? append(shown ?? event, ctx) : (shown ?? event);
}
