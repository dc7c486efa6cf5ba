import { type FunctionCall, functionCallsOf, type FunctionResponse, functionResponsesOf } from './content.ts';
import type { Event, EventActions } from './event-schema.ts';

// What is read from an event. Its schema is a file of its own, so that agents load without zod's objects.
export type {
  Event,
  EventActions,
  EventCompaction,
  ToolConfirmation,
  Transcription,
  UsageMetadata,
} from './event-schema.ts';

/** Fresh actions with the four maps the wire always shows. */
export function newActions(): EventActions {
  return { stateDelta: {}, artifactDelta: {}, requestedAuthConfigs: {}, requestedToolConfirmations: {} };
}

export const functionCalls = (event: Event): FunctionCall[] => functionCallsOf(event.content);
export const functionResponses = (event: Event): FunctionResponse[] => functionResponsesOf(event.content);

/** Whether the event's last part is the result of code the model had run (it has more to say then). */
export function hasTrailingCodeExecutionResult(event: Event): boolean {
  return event.content?.parts.at(-1)?.codeExecutionResult !== undefined;
}

/** Whether the event ends its agent's answer: nothing is left to call, to answer or to stream. */
export function isFinalResponse(event: Event): boolean {
  if (event.actions.skipSummarization || (event.longRunningToolIds?.length ?? 0) > 0) return true;
  if (event.partial || hasTrailingCodeExecutionResult(event)) return false;
  return !(event.content?.parts ?? []).some((part) => part.functionCall ?? part.functionResponse);
}

/** The event as one line of JSON. */
export const eventJson = (event: Event): string => JSON.stringify(event);

const storedTexts = new WeakMap<Event, string>();

/**
 * The same for a frozen (stored) event, cached on the first call, because histories are read repeatedly. Lazy, because
 * most events are never read back.
 */
export function storedEventJson(event: Event): string {
  const known = storedTexts.get(event);
  if (known !== undefined) return known;
  const text = eventJson(event);
  if (Object.isFrozen(event)) rememberEventJson(event, text);
  return text;
}

/** Longer texts are not cached: they take more memory than the saved time is worth. */
const maxRemembered = 64 * 1024;

/** Caches the JSON text that a frozen event was read from. */
export function rememberEventJson(event: Event, text: string): void {
  if (text.length <= maxRemembered) storedTexts.set(event, text);
}
