import type { JsonObject } from '../../base/json.ts';
import { isImported } from '../../core/events/imported-events.ts';
import type { RunContext } from '../../core/runtime.ts';
import { type Event, functionResponses } from '../../schemas/event.ts';
import { requestNames } from '../reserved-names.ts';
import { requestEvent } from './user-requests.ts';

/** An agent's question to the user. */
export interface InputRequest {
  /** The id of the request, which the response repeats. Generated when absent; an agent that asks twice in one turn sets it. */
  readonly interruptId?: string;
  readonly message: string;
  /** Data to show with the question. */
  readonly payload?: unknown;
  /** JSON Schema of the answer. */
  readonly responseSchema?: JsonObject;
}

/**
 * The event with which an agent written as a function asks the user. The agent yields it and returns; the user's answer
 * runs the agent again, which then finds it with `inputAnswer`.
 */
export function inputRequest(ctx: RunContext, request: InputRequest): Event {
  const { interruptId = `adk-${crypto.randomUUID()}`, message, payload, responseSchema } = request;
  const args = {
    interruptId,
    message,
    ...(payload !== undefined && { payload }),
    ...(responseSchema && { response_schema: responseSchema }),
  };
  return requestEvent(ctx, [{ id: interruptId, name: requestNames.input, args }]);
}

/** The user's newest response to a request; `undefined` while there is none. `{ result: x }` counts as `x`. */
export function inputAnswer(ctx: RunContext, interruptId: string): unknown {
  for (const event of ctx.session.events.toReversed()) {
    if (event.author !== 'user' || isImported(event)) continue;
    const answer = functionResponses(event).find(({ id }) => id === interruptId)?.response;
    if (answer) return 'result' in answer && Object.keys(answer).length === 1 ? answer['result'] : answer;
  }
  return undefined;
}
