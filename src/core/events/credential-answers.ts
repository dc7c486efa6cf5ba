import { isJsonObject, type JsonObject } from '../../base/json.ts';
import type { Content, FunctionResponse, Part } from '../../schemas/content.ts';
import { type Event, functionCalls } from '../../schemas/event.ts';

const requestName = 'adk_request_credential';
const credentialFields = [
  'exchangedAuthCredential',
  'exchanged_auth_credential',
  'rawAuthCredential',
  'raw_auth_credential',
];

/** A message that may be stored, and the credentials removed from it, by the id of the request they answer. */
export interface PublicMessage {
  readonly message: Content;
  readonly answers: ReadonlyMap<string, JsonObject>;
}

/**
 * Removes the credentials from a message and leaves `{ received: true }`. `events` has the credential requests, so that an
 * answer is recognised by its call id even under another name.
 */
export function withoutCredentials(message: Content, events: readonly Event[] = []): PublicMessage {
  if (!message.parts.some(({ functionResponse }) => functionResponse)) return { message, answers: none };
  const answers = new Map<string, JsonObject>();
  const asking = new Set(
    events.flatMap(functionCalls).flatMap(({ id, name }) => (id !== undefined && name === requestName ? [id] : [])),
  );
  const parts = message.parts.map((part): Part => {
    const answer = part.functionResponse;
    if (!answer || !isCredential(answer, asking)) return part;
    const { id, name, response } = answer;
    if (id !== undefined && response['received'] !== true) answers.set(id, response);
    return { functionResponse: { ...(id !== undefined && { id }), name, response: { received: true } } };
  });
  return answers.size === 0 && parts.every((part, index) => part === message.parts[index])
    ? { message, answers }
    : { message: { ...message, parts }, answers };
}

const none: ReadonlyMap<string, JsonObject> = new Map();

const isCredential = ({ id, name, response }: FunctionResponse, asking: ReadonlySet<string>): boolean =>
  name === requestName ||
  (id !== undefined && asking.has(id)) ||
  (isJsonObject(response) && credentialFields.some((field) => Object.hasOwn(response, field)));
