import { isJsonObject, type JsonObject, toJson } from '../../base/json.ts';

/** The longest tool response for a model, in characters of JSON. */
const maxLength = 1024 * 1024;

/**
 * A tool's result as the object of a function response. Other values go under `result`. Throws `agent_failed` for a value
 * that is nested too deeply.
 */
export function asResponse(value: unknown): JsonObject {
  const plain = toJson(value);
  return withinLimit(isJsonObject(plain) ? plain : { result: plain ?? null });
}

/** Truncates very long responses, with a note: they would be expensive, or exceed the model's limit. */
function withinLimit(response: JsonObject): JsonObject {
  if (roughLength(response) <= maxLength / 2) return response;
  const text = JSON.stringify(response);
  if (text.length <= maxLength) return response;
  return {
    result: text.slice(0, maxLength).toWellFormed(),
    truncated: `The answer was ${text.length} characters of JSON; only the first ${maxLength} are shown. Ask for less.`,
  };
}

/** The length of the value's JSON without escapes, so that short results need no serialization. */
function roughLength(value: unknown): number {
  if (typeof value === 'string') return value.length + 2;
  if (typeof value !== 'object' || value === null) return 5;
  let length = 2;
  for (const key in value) length += key.length + 4 + roughLength((value as JsonObject)[key]);
  return length;
}
