import { redact } from '../../base/redact.ts';
import { newUuid } from '../../base/uuid.ts';
import { type Event, newActions } from '../../schemas/event.ts';
import type { RunContext } from '../runtime.ts';

let lastMicros = 0;

/** Seconds since the epoch, strictly greater than any earlier result in this process, even if the clock is set back. */
export function eventTime(): number {
  lastMicros = Math.max(Date.now() * 1_000, lastMicros + 1);
  return lastMicros / 1e6;
}

/**
 * Makes an event of a run: new id, current time, the context's invocation and branch, credentials removed from the error
 * message.
 */
export function newEvent(
  ctx: Pick<RunContext, 'invocationId' | 'branch'>,
  author: string,
  fields: Partial<Event> = {},
): Event {
  const event: Event = {
    id: newUuid(),
    invocationId: ctx.invocationId,
    author,
    timestamp: eventTime(),
    ...fields,
    actions: fields.actions ?? newActions(),
  };
  if (ctx.branch !== undefined && event.branch === undefined) event.branch = ctx.branch;
  // Providers print the credentials they refuse into their own error texts.
  if (event.errorMessage !== undefined) event.errorMessage = redact(event.errorMessage);
  return event;
}
