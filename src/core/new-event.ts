import { randomUUID } from 'node:crypto';
import { type Event, newActions } from '../schemas/event.ts';
import type { RunContext } from './runtime.ts';

/** A fresh event of a run: new id, the time now, the context's invocation and branch. Absent fields are left out. */
export function newEvent(
  ctx: Pick<RunContext, 'invocationId' | 'branch'>,
  author: string,
  fields: Partial<Event> = {},
): Event {
  const event: Event = {
    id: randomUUID(),
    invocationId: ctx.invocationId,
    author,
    timestamp: Date.now() / 1000,
    ...fields,
    actions: fields.actions ?? newActions(),
  };
  if (ctx.branch !== undefined && event.branch === undefined) event.branch = ctx.branch;
  return event;
}
