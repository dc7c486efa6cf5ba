import { isJsonObject } from '../../base/json.ts';
import { ownEvents } from '../../core/events/imported-events.ts';
import { FunctionCall } from '../../schemas/content-schema.ts';
import { type Event, functionCalls, functionResponses } from '../../schemas/event.ts';
import type { OpenRequest } from '../../schemas/extensions.ts';
import { type PendingRequest, pendingRequests } from '../../tools/pending-requests.ts';

/** The open calls of a history, oldest first: requests to the user, and long-running calls. Calls of imported events are not open. */
export function openRequests(history: readonly Event[]): OpenRequest[] {
  const events = ownEvents(history);
  const questions = new Map(pendingRequests(events).map((request) => [request.interruptId, request]));
  const open = new Map<string, OpenRequest>();
  for (const event of events) {
    for (const call of functionCalls(event)) {
      const { id } = call;
      if (id === undefined) continue;
      const question = questions.get(id);
      if (question || event.longRunningToolIds?.includes(id)) open.set(id, describe(event, call, question));
    }
    if (event.author !== 'user') continue;
    for (const { id } of functionResponses(event)) if (id !== undefined) open.delete(id);
  }
  return [...open.values()];
}

function describe(event: Event, call: FunctionCall, question: PendingRequest | undefined): OpenRequest {
  const { id: eventId, invocationId, author, timestamp } = event;
  const about = call.args?.['originalFunctionCall'];
  const original = isJsonObject(about) ? FunctionCall.safeParse(about).data : undefined;
  return {
    kind: question?.kind ?? 'longRunning',
    eventId,
    invocationId,
    author,
    timestamp,
    call,
    ...(question?.message !== undefined && { hint: question.message }),
    ...(question?.payload !== undefined && { payload: question.payload }),
    ...(original && { about: original }),
    ...(question?.responseSchema && { schema: question.responseSchema }),
  };
}
