import { isJsonObject, type JsonObject } from '../base/json.ts';
import type { FunctionCall } from '../schemas/content.ts';
import { type Event, functionCalls, functionResponses } from '../schemas/event.ts';

/** A request to the user without an answer yet. */
export interface PendingRequest {
  readonly kind: 'input' | 'credential' | 'confirmation';
  /** The id that the answer, a function response, must have. */
  readonly interruptId: string;
  readonly functionCallName: string;
  /** The agent that made the request. */
  readonly author: string;
  readonly message?: string;
  readonly payload?: unknown;
  readonly responseSchema?: JsonObject;
  /** The tool whose call waits for a confirmation. */
  readonly toolName?: string;
  readonly authConfig?: JsonObject;
}

const kinds: Readonly<Record<string, PendingRequest['kind'] | undefined>> = {
  adk_request_input: 'input',
  adk_request_credential: 'credential',
  adk_request_confirmation: 'confirmation',
};

/** The open requests of a history, oldest first: an application has to show them to its user. */
export function pendingRequests(events: readonly Event[]): PendingRequest[] {
  const open = new Map<string, PendingRequest>();
  for (const event of events) {
    for (const call of functionCalls(event)) {
      const request = requestOf(call, event.author);
      if (request) open.set(request.interruptId, request);
    }
    if (event.author !== 'user') continue;
    for (const { id } of functionResponses(event)) if (id !== undefined) open.delete(id);
  }
  return [...open.values()];
}

function requestOf({ id, name, args = {} }: FunctionCall, author: string): PendingRequest | undefined {
  const kind = Object.hasOwn(kinds, name) ? kinds[name] : undefined;
  if (kind === undefined || id === undefined) return undefined;
  const base = { kind, interruptId: id, functionCallName: name, author };
  const authConfig = args.authConfig ?? args.auth_config;
  if (kind === 'credential') return { ...base, ...(isJsonObject(authConfig) && { authConfig }) };
  if (kind === 'confirmation') return { ...base, ...confirmationFields(args) };
  const message = args.message ?? args.prompt;
  const responseSchema = args.response_schema ?? args.responseSchema;
  return {
    ...base,
    ...(typeof message === 'string' && { message }),
    ...(args.payload !== undefined && { payload: args.payload }),
    ...(isJsonObject(responseSchema) && { responseSchema }),
  };
}

function confirmationFields({ toolConfirmation, originalFunctionCall }: JsonObject): Partial<PendingRequest> {
  const { hint, payload } = isJsonObject(toolConfirmation) ? toolConfirmation : {};
  const { name } = isJsonObject(originalFunctionCall) ? originalFunctionCall : {};
  return {
    ...(typeof hint === 'string' && { message: hint }),
    ...(payload !== undefined && { payload }),
    ...(typeof name === 'string' && { toolName: name }),
  };
}
