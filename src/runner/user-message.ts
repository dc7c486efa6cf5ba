import { callKey } from '../agents/request/pairing.ts';
import { requestNames } from '../agents/reserved-names.ts';
import { AppError } from '../base/errors.ts';
import { define } from '../base/json.ts';
import { withoutCredentials } from '../core/events/credential-answers.ts';
import { refuseImportedAnswers } from '../core/events/imported-events.ts';
import { newEvent } from '../core/events/new-event.ts';
import { firstResult, hasHook } from '../core/hooks.ts';
import type { RunContext } from '../core/runtime.ts';
import { asUserMessage, modelPartIn } from '../schemas/content-schema.ts';
import { type Content, functionResponsesOf, type Part } from '../schemas/content.ts';
import { functionCalls, newActions } from '../schemas/event.ts';
import type { RunRequest } from '../schemas/run.ts';
import type { ReadonlySession, Session, State } from '../schemas/session.ts';
import { withConfirmation } from './plain-text-confirmation.ts';
import { append } from './store-event.ts';

/**
 * Lets plugins replace the message, saves its blobs as artifacts if the run config says so, and stores it with the
 * request's state delta as the `user` event of the invocation. Returns the message as stored. Throws `invalid_request`,
 * FunctionCallNotFound, and `imported_history` for a response to a call in imported events; nothing is stored then.
 */
export async function storeUserMessage(
  request: Pick<RunRequest, 'newMessage' | 'stateDelta' | 'invocationId' | 'customMetadata'>,
  ctx: RunContext,
): Promise<Content | undefined> {
  const stateDelta = request.stateDelta ?? {};
  checkMessage(request);
  refuseImportedAnswers(request.newMessage, ctx.session.events);
  const kept = takeCredentials(request.newMessage, ctx);
  const sent = withConfirmation(kept && asUserMessage(kept), ctx);
  const replaced =
    sent && hasHook(ctx, 'onUserMessage')
      ? await firstResult(ctx, 'onUserMessage', { userMessage: sent, context: ctx })
      : undefined;
  const message = replaced ?? sent;
  if (message && message.parts.length === 0) {
    throw new AppError('invalid_request', 'newMessage: must have at least one part');
  }
  if (message) checkAnswers(message, ctx.session);
  if (!message && Object.keys(stateDelta).length === 0) return undefined;
  const actions = { ...newActions(), stateDelta };
  const content = message && ctx.runConfig.saveInputBlobsAsArtifacts ? await saveBlobs(message, ctx, actions) : message;
  const metadata = request.customMetadata ?? ctx.runConfig.customMetadata;
  const event = newEvent(ctx, 'user', {
    actions,
    ...(content ? { content } : {}),
    ...(metadata ? { customMetadata: metadata } : {}),
  });
  const stored = await append(event, ctx);
  return stored.content;
}

/** A request that may be stored: without the credentials in its message. */
export function storableRequest(request: RunRequest): RunRequest {
  const { newMessage } = request;
  return newMessage ? { ...request, newMessage: withoutCredentials(newMessage).message } : request;
}

/** Moves credentials into the context, for the tool that requested them: neither plugins nor stores see them. */
function takeCredentials(message: Content | undefined, ctx: RunContext): Content | undefined {
  if (!message) return undefined;
  const { message: kept, answers } = withoutCredentials(message, ctx.session.events);
  for (const [id, answer] of answers) ctx.credentialAnswers?.set(id, answer);
  return kept;
}

/** Throws `invalid_request` for a message that is invalid whatever plugins make of it. */
export function checkMessage({ newMessage, invocationId }: Pick<RunRequest, 'newMessage' | 'invocationId'>): void {
  if (!newMessage && invocationId === undefined) {
    throw new AppError('invalid_request', 'newMessage: is required unless invocationId names a run to continue');
  }
  const modelPart = newMessage && modelPartIn(newMessage);
  if (modelPart === undefined) return;
  throw new AppError('invalid_request', `newMessage: must not contain a part that only models may use (${modelPart})`);
}

/** Throws FunctionCallNotFound for a message whose function responses all lack their call: models reject such a history. */
function checkAnswers(message: Content, { events }: ReadonlySession): void {
  const answers = functionResponsesOf(message);
  const missing = answers.find(({ name }) => name !== requestNames.input);
  if (!missing) return;
  const made = new Set(events.flatMap(functionCalls).map(callKey));
  if (answers.some((answer) => made.has(callKey(answer)))) return;
  throw new AppError(
    'FunctionCallNotFound',
    `No call of "${missing.name}" with id "${missing.id}" precedes its response`,
  );
}

/** Shows plugins the request's state delta before its message is stored; storing it applies the same values again. */
export function previewStateDelta(delta: State, session: Session): void {
  for (const [key, value] of Object.entries(delta)) {
    if (value === null) delete session.state[key];
    else define(session.state, key, value);
  }
}

/** Saves inline data as artifacts. Returns a copy of the message with a line naming the artifact in its place. */
async function saveBlobs(
  message: Content,
  ctx: RunContext,
  actions: { artifactDelta: Record<string, number> },
): Promise<Content> {
  const { artifacts } = ctx.services;
  if (!artifacts) return message;
  const { appName, userId, id: sessionId } = ctx.session;
  const parts: Part[] = [];
  for (const [index, part] of message.parts.entries()) {
    if (!part.inlineData) {
      parts.push(part);
      continue;
    }
    const name = part.inlineData.displayName ?? `artifact_${ctx.invocationId}_${index}`;
    actions.artifactDelta[name] = await artifacts.saveArtifact({ appName, userId, sessionId }, name, part);
    parts.push({ text: `[Uploaded file "${name}", saved as an artifact]` });
  }
  return { ...message, parts };
}
