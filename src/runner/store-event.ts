import type { RunContext } from '../core/runtime.ts';
import type { Event } from '../schemas/event.ts';
import { firstAnswer } from './plugins.ts';

/** Lets plugins replace the event, then stores it unless it is partial or not to be kept: what is stored is what is shown. */
export function store(event: Event, ctx: RunContext, isKept = true): Promise<Event> {
  if (ctx.plugins.length > 0) return storeReviewed(event, ctx, isKept);
  return isKept ? ctx.services.sessions.appendEvent(ctx.session, event) : Promise.resolve(event);
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
  return isKept ? ctx.services.sessions.appendEvent(ctx.session, shown ?? event) : (shown ?? event);
}
