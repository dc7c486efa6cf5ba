import { isDeepStrictEqual } from 'node:util';
import { isJsonObject, type JsonObject } from '../../base/json.ts';
import type { ToolContext } from '../../core/runtime.ts';
import { ToolConfirmation } from '../../schemas/event-schema.ts';
import { functionCalls, functionResponses } from '../../schemas/event.ts';

/** A request to the user during a call, and the answer. */
export interface UserAnswer {
  readonly question: JsonObject;
  readonly confirmed: boolean;
  readonly payload: unknown;
}

const requestName = 'adk_request_confirmation';

/**
 * The user's answers for this call, oldest first. With several requests of a server, the call runs several times from
 * its beginning, and needs all answers so far.
 */
export function answersFor({ session, functionCallId, agentName }: ToolContext): UserAnswer[] {
  const questions = new Map<string, JsonObject>();
  const answers: UserAnswer[] = [];
  for (const event of session.events) {
    if (event.author === agentName) {
      for (const { id, name, args } of functionCalls(event)) {
        const question = name === requestName ? questionIn(args, functionCallId) : undefined;
        if (question && id !== undefined) questions.set(id, question);
      }
    }
    if (event.author !== 'user') continue;
    for (const { id, name, response } of functionResponses(event)) {
      const question = name === requestName && id !== undefined ? questions.get(id) : undefined;
      const verdict = question && confirmationIn(response);
      if (question && verdict) {
        answers.push({ question, confirmed: verdict.confirmed, payload: verdict.payload });
      }
    }
  }
  return answers;
}

function questionIn(args: JsonObject | undefined, callId: string): JsonObject | undefined {
  const { originalFunctionCall: call, toolConfirmation: asked } = args ?? {};
  if (!isJsonObject(call) || call['id'] !== callId || !isJsonObject(asked)) return undefined;
  return isJsonObject(asked['payload']) ? asked['payload'] : undefined;
}

/** `{ confirmed, payload? }`, as an object or as JSON text under `response`. */
function confirmationIn(response: JsonObject): ToolConfirmation | undefined {
  let value: unknown = response;
  try {
    if (typeof response['response'] === 'string') value = JSON.parse(response['response']);
  } catch {
    return undefined;
  }
  const verdict = ToolConfirmation.safeParse(value);
  return verdict.success ? verdict.data : undefined;
}

/** Whether `asked` has all members of `question`; it may have more. */
export const isSameQuestion = (question: JsonObject, asked: JsonObject): boolean =>
  Object.entries(question).every(([key, value]) => isDeepStrictEqual(asked[key], value));
