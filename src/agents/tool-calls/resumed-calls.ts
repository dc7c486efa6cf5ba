import { isJsonObject, type JsonObject } from '../../base/json.ts';
import type { CredentialRequest } from '../../core/auth.ts';
import { isImported } from '../../core/events/imported-events.ts';
import type { MaybePromise, RunContext } from '../../core/runtime.ts';
import type { FunctionCall, FunctionResponse } from '../../schemas/content.ts';
import { type Event, functionCalls, functionResponses, type ToolConfirmation } from '../../schemas/event.ts';
import { writable } from '../../schemas/session.ts';
import { newestWithContent } from '../continuation.ts';
import { requestNames } from '../reserved-names.ts';
import { keepCredential } from '../run-credentials.ts';

/** Calls to run before the next model call, with the user's confirmations by call id. */
export interface ResumedCalls {
  readonly calls: readonly FunctionCall[];
  readonly confirmations: ReadonlyMap<string, ToolConfirmation>;
}

/** The prefix of credential requests of toolsets, which have no call to run again. */
const toolsetPrefix = '_adk_toolset_auth_';

/**
 * The calls to run again: those for which the newest message brings a confirmation or credential, and those that an
 * interrupted invocation left without a response. The client supplies the confirmation and nothing else: the calls come
 * from this server's own history, were made by this agent, and their tools did request a confirmation or credential.
 */
export function resumedCalls(ctx: RunContext): MaybePromise<ResumedCalls | undefined> {
  const { events } = ctx.session;
  const newest = ctx.continuing ? newestWithContent(ctx) : events.at(-1);
  if (newest?.invocationId !== ctx.invocationId) return undefined;
  if (isImported(newest)) return undefined;
  if (newest.author === ctx.agent.name) return abandonedCalls(newest);
  const at = events.findLastIndex(({ author }) => author === 'user');
  const message = events[at];
  if (message?.invocationId !== ctx.invocationId) return undefined;
  const responses = userResponsesIn(message);
  return responses.length === 0 ? undefined : releasedCalls(responses, at, ctx);
}

/** The calls released by the user's newest confirmations, also when other messages followed. For live conversations. */
export async function callsReleasedByUser(ctx: RunContext): Promise<ResumedCalls | undefined> {
  const { events } = ctx.session;
  const at = events.findLastIndex((event) => event.author === 'user' && userResponsesIn(event).length > 0);
  const message = events[at];
  return message && releasedCalls(userResponsesIn(message), at, ctx);
}

const userResponsesIn = (event: Event): FunctionResponse[] =>
  functionResponses(event).filter(({ name }) => isUserResponse(name));

const isUserResponse = (name: string): boolean =>
  name === requestNames.confirmation || name === requestNames.credential;

/** Calls without a response when the invocation was interrupted. */
function abandonedCalls(newest: Event): ResumedCalls | undefined {
  const later = new Set(newest.longRunningToolIds);
  const calls = functionCalls(newest).filter(({ id }) => id === undefined || !later.has(id));
  return calls.length > 0 ? { calls, confirmations: new Map() } : undefined;
}

async function releasedCalls(
  responses: readonly FunctionResponse[],
  at: number,
  ctx: RunContext,
): Promise<ResumedCalls | undefined> {
  const calls = new Map<string, FunctionCall>();
  const confirmations = new Map<string, ToolConfirmation>();
  for (const response of responses) {
    const checked = await checkUserResponse(response, at, ctx);
    if (typeof checked === 'string') {
      ctx.log?.warn(
        { agent: ctx.agent.name, name: response.name, callId: response.id, reason: checked },
        'answer ignored',
      );
      continue;
    }
    const { original, authConfig } = checked;
    if (authConfig) await acceptCredential({ functionCallId: original.id, authConfig }, response, ctx);
    else {
      const confirmation = await readConfirmation(response.response);
      if (!confirmation) continue;
      confirmations.set(original.id, confirmation);
    }
    if (!original.id.startsWith(toolsetPrefix)) calls.set(original.id, original);
  }
  return calls.size > 0 ? { calls: [...calls.values()], confirmations } : undefined;
}

interface CheckedUserResponse {
  readonly original: FunctionCall & { id: string };
  /** The AuthConfig of the tool; absent for a confirmation. */
  readonly authConfig: JsonObject | undefined;
}

/** The call that a user's response releases, or the reason why it is ignored. */
async function checkUserResponse(
  response: FunctionResponse,
  at: number,
  ctx: RunContext,
): Promise<CheckedUserResponse | string> {
  const { events } = ctx.session;
  const isOwn = (event: Event): boolean => event.author === ctx.agent.name && !isImported(event);
  const requestAt = events.findLastIndex(
    (event, index) => index < at && isOwn(event) && event.longRunningToolIds?.includes(response.id ?? '') === true,
  );
  const request = events[requestAt];
  const call = request && functionCalls(request).find(({ id, name }) => id === response.id && name === response.name);
  if (!call) return 'unknown_request';
  const shown = isJsonObject(call.args?.['originalFunctionCall']) ? call.args['originalFunctionCall'] : undefined;
  const id = shown ? shown['id'] : (call.args?.['functionCallId'] ?? call.args?.['function_call_id']);
  if (typeof id !== 'string') return 'malformed_request';

  const before = events.slice(0, requestAt).filter(isOwn);
  const isConfirmation = response.name === requestNames.confirmation;
  const requestEvent = before.findLast(({ actions }) =>
    Object.hasOwn(isConfirmation ? actions.requestedToolConfirmations : actions.requestedAuthConfigs, id),
  );
  if (!requestEvent) return 'not_requested';
  if (events.slice(requestAt).some((event) => isOwn(event) && functionResponses(event).some((one) => one.id === id))) {
    return 'already_answered';
  }
  const authConfig = isConfirmation ? undefined : requestEvent.actions.requestedAuthConfigs[id];
  if (!isConfirmation && !isJsonObject(authConfig)) return 'malformed_request';
  if (id.startsWith(toolsetPrefix)) return { original: { id, name: '' }, authConfig: authConfig as JsonObject };

  const original = before.flatMap(functionCalls).findLast((one) => one.id === id);
  if (!original) return 'unknown_original_call';
  if (shown && shown['name'] !== original.name) return 'tool_name_mismatch';
  const { isDeepStrictEqual } = await import('node:util');
  if (shown && !isDeepStrictEqual(shown['args'] ?? {}, original.args ?? {})) return 'arguments_mismatch';
  return { original: { ...original, id }, authConfig: authConfig as JsonObject | undefined };
}

/** `{ confirmed, payload?, hint? }`, as an object or as JSON text under `response`. */
async function readConfirmation(response: JsonObject): Promise<ToolConfirmation | undefined> {
  let value: unknown = response;
  if (typeof response['response'] === 'string') {
    try {
      value = JSON.parse(response['response']);
    } catch {
      return undefined;
    }
  }
  const schemas = await import('../../schemas/event-schema.ts');
  return schemas.ToolConfirmation.safeParse(value).data;
}

/**
 * Puts the credential where tools find it during this invocation, and nowhere else. `credentials.exchange` exchanges the
 * answer to a request that a tool made by itself, and leaves that of a CredentialSource to it. The answer came with the message and was not
 * stored: an invocation that lost its server has none, so the tool asks again.
 */
async function acceptCredential(
  request: Omit<CredentialRequest, 'owner'>,
  { id = '' }: FunctionResponse,
  { session, credentials, credentialAnswers, signal }: RunContext,
): Promise<void> {
  const response = credentialAnswers?.get(id);
  if (!response) return;
  const credential = credentials
    ? await credentials.exchange({ ...request, owner: session, answer: response }, signal)
    : (response['exchangedAuthCredential'] ?? response['exchanged_auth_credential'] ?? response['rawAuthCredential']);
  if (isJsonObject(credential)) keepCredential(writable(session), request.authConfig, credential);
}
