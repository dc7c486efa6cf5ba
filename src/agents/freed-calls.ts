import { isDeepStrictEqual } from 'node:util';
import { isJsonObject, type JsonObject } from '../base/json.ts';
import type { CredentialRequest } from '../core/auth.ts';
import { isImported } from '../core/imported-events.ts';
import type { MaybePromise, RunContext } from '../core/runtime.ts';
import type { FunctionCall, FunctionResponse } from '../schemas/content.ts';
import { type Event, functionCalls, functionResponses, ToolConfirmation } from '../schemas/event.ts';
import { newestSaying } from './continuation.ts';
import { keepCredential } from './credential-state.ts';
import { requestNames } from './reserved-names.ts';

/** Calls to run before the model is asked, with the user's verdicts on those that asked for one. */
export interface Resumption {
  readonly calls: readonly FunctionCall[];
  readonly verdicts: ReadonlyMap<string, ToolConfirmation>;
}

/** Toolsets that ask for a credential use such ids: there is no call to run again. */
const toolsetPrefix = '_adk_toolset_auth_';

/**
 * What the newest message sets free: calls that waited for the user's confirmation or credential, and calls an
 * interrupted invocation left behind. Nothing is taken from the client but the verdict: the calls come from history that
 * came about here, and only those this agent made and whose tool really asked.
 */
export function resumption(ctx: RunContext): MaybePromise<Resumption | undefined> {
  const { events } = ctx.session;
  const newest = ctx.continuing ? newestSaying(ctx) : events.at(-1);
  if (newest?.invocationId !== ctx.invocationId) return undefined;
  if (isImported(newest)) return undefined;
  if (newest.author === ctx.agent.name) return abandonedCalls(newest);
  const at = events.findLastIndex(({ author }) => author === 'user');
  const message = events[at];
  if (message?.invocationId !== ctx.invocationId) return undefined;
  const answers = verdictsIn(message);
  return answers.length === 0 ? undefined : freedCalls(answers, at, ctx);
}

/** What the newest verdicts of the user set free, whatever was said since. */
export async function freedByUser(ctx: RunContext): Promise<Resumption | undefined> {
  const { events } = ctx.session;
  const at = events.findLastIndex((event) => event.author === 'user' && verdictsIn(event).length > 0);
  const message = events[at];
  return message && freedCalls(verdictsIn(message), at, ctx);
}

const verdictsIn = (event: Event): FunctionResponse[] => functionResponses(event).filter(({ name }) => isAnswer(name));

const isAnswer = (name: string): boolean => name === requestNames.confirmation || name === requestNames.credential;

/** Calls whose tools had not answered when the invocation was cut off. */
function abandonedCalls(newest: Event): Resumption | undefined {
  const later = new Set(newest.longRunningToolIds);
  const calls = functionCalls(newest).filter(({ id }) => id === undefined || !later.has(id));
  return calls.length > 0 ? { calls, verdicts: new Map() } : undefined;
}

async function freedCalls(
  answers: readonly FunctionResponse[],
  at: number,
  ctx: RunContext,
): Promise<Resumption | undefined> {
  const calls = new Map<string, FunctionCall>();
  const verdicts = new Map<string, ToolConfirmation>();
  for (const answer of answers) {
    const checked = checkAnswer(answer, at, ctx);
    if (typeof checked === 'string') {
      ctx.log?.warn({ agent: ctx.agent.name, name: answer.name, callId: answer.id, reason: checked }, 'answer ignored');
      continue;
    }
    const { original, asked } = checked;
    if (asked) await takeCredential({ functionCallId: original.id, authConfig: asked }, answer, ctx);
    else {
      const verdict = readVerdict(answer.response);
      if (!verdict) continue;
      verdicts.set(original.id, verdict);
    }
    if (!original.id.startsWith(toolsetPrefix)) calls.set(original.id, original);
  }
  return calls.size > 0 ? { calls: [...calls.values()], verdicts } : undefined;
}

interface CheckedAnswer {
  readonly original: FunctionCall & { id: string };
  /** The AuthConfig the tool asked with; absent for a confirmation. */
  readonly asked: JsonObject | undefined;
}

/** The call an answer sets free, or why it sets none free. */
function checkAnswer(answer: FunctionResponse, at: number, ctx: RunContext): CheckedAnswer | string {
  const { events } = ctx.session;
  const isOwn = (event: Event): boolean => event.author === ctx.agent.name && !isImported(event);
  const requestAt = events.findLastIndex(
    (event, index) => index < at && isOwn(event) && event.longRunningToolIds?.includes(answer.id ?? '') === true,
  );
  const request = events[requestAt];
  const call = request && functionCalls(request).find(({ id, name }) => id === answer.id && name === answer.name);
  if (!call) return 'unknown_request';
  const shown = isJsonObject(call.args?.['originalFunctionCall']) ? call.args['originalFunctionCall'] : undefined;
  const id = shown ? shown['id'] : (call.args?.['functionCallId'] ?? call.args?.['function_call_id']);
  if (typeof id !== 'string') return 'malformed_request';

  const before = events.slice(0, requestAt).filter(isOwn);
  const isConfirmation = answer.name === requestNames.confirmation;
  const asked = before.findLast(({ actions }) =>
    Object.hasOwn(isConfirmation ? actions.requestedToolConfirmations : actions.requestedAuthConfigs, id),
  );
  if (!asked) return 'not_requested';
  if (events.slice(requestAt).some((event) => isOwn(event) && functionResponses(event).some((one) => one.id === id))) {
    return 'already_answered';
  }
  const authConfig = isConfirmation ? undefined : asked.actions.requestedAuthConfigs[id];
  if (!isConfirmation && !isJsonObject(authConfig)) return 'malformed_request';
  if (id.startsWith(toolsetPrefix)) return { original: { id, name: '' }, asked: authConfig as JsonObject };

  const original = before.flatMap(functionCalls).findLast((one) => one.id === id);
  if (!original) return 'unknown_original_call';
  if (shown && shown['name'] !== original.name) return 'tool_name_mismatch';
  if (shown && !isDeepStrictEqual(shown['args'] ?? {}, original.args ?? {})) return 'arguments_mismatch';
  return { original: { ...original, id }, asked: authConfig as JsonObject | undefined };
}

/** `{ confirmed, payload?, hint? }`, as an object or as JSON text under `response`. */
function readVerdict(response: JsonObject): ToolConfirmation | undefined {
  let value: unknown = response;
  if (typeof response['response'] === 'string') {
    try {
      value = JSON.parse(response['response']);
    } catch {
      return undefined;
    }
  }
  const verdict = ToolConfirmation.safeParse(value);
  return verdict.success ? verdict.data : undefined;
}

/**
 * Puts the credential where tools find it during this invocation, and nowhere else. It came with the message and was not
 * stored: an invocation that lost its server has none, so the tool asks again.
 */
async function takeCredential(
  request: Omit<CredentialRequest, 'owner'>,
  { id = '' }: FunctionResponse,
  { session, credentials, credentialAnswers, signal }: RunContext,
): Promise<void> {
  const answer = credentialAnswers?.get(id);
  if (!answer) return;
  const credential = credentials
    ? await credentials.exchange({ ...request, owner: session, answer }, signal)
    : (answer['exchangedAuthCredential'] ?? answer['exchanged_auth_credential'] ?? answer['rawAuthCredential']);
  if (isJsonObject(credential)) keepCredential(session, request.authConfig, credential);
}
