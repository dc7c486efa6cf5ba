import { AppError, causedBy, describeError, errorText, originFields } from '../../base/errors.ts';
import { define, type JsonObject } from '../../base/json.ts';
import { newUuid } from '../../base/uuid.ts';
import { eventTime, newEvent } from '../../core/events/new-event.ts';
import { ModelError, type ModelResponse } from '../../core/model.ts';
import type { MaybePromise, RunContext } from '../../core/runtime.ts';
import { type Content, functionCallsOf } from '../../schemas/content.ts';
import { type Event, type EventActions, isFinalResponse, newActions } from '../../schemas/event.ts';
import type { OpenSpan } from '../../telemetry/spans.ts';
import { type CallIds, longRunningIds } from '../call-ids.ts';
import { changesAnything, type CallbackContextImpl } from '../callback-context.ts';
import { cutAtCode } from '../code-execution/code-blocks.ts';
import { codeToRun, isLocal, mayRunCode } from '../code-execution/code-execution.ts';
import type { LlmDefinition } from '../definition/llm-definition.ts';
import type { AnswerReader } from '../definition/planners.ts';
import { outputOf } from '../output-schema.ts';
import type { LlmStep } from '../request/build-request.ts';
import { hasOtherOutput } from './model-response-check.ts';
import { recordResponse } from './model-span.ts';

/** Chunks have no actions: they all share this object. */
const noActions: EventActions = Object.freeze(newActions());

/** One call of a model, and the state its response is read with. */
export interface ModelCall {
  readonly definition: LlmDefinition;
  readonly step: LlmStep;
  readonly ctx: RunContext;
  readonly span: OpenSpan;
  readonly ids: CallIds;
  readonly reader: AnswerReader | undefined;
  readonly hasAfterModel: boolean;
  /** Shared by the callbacks of one step; their changes become part of the response's event. */
  callbacks: CallbackContextImpl | undefined;
}

/** The event of a chunk. `undefined` when it has nothing to show. */
export function partialEvent(modelCall: ModelCall, response: ModelResponse): Event | undefined {
  const { ctx, definition, reader, step } = modelCall;
  let content = modelCall.ids.complete(response.content, true);
  if (content && reader) content = { ...content, parts: reader.partial(content.parts) };
  if (!content?.parts.length && !hasOtherOutput(response)) return undefined;
  const event: Event = {
    id: newUuid(),
    invocationId: ctx.invocationId,
    author: definition.name,
    timestamp: eventTime(),
    ...response,
    actions: noActions,
  };
  if (content !== response.content) event.content = content;
  if (ctx.branch !== undefined) event.branch = ctx.branch;
  addLongRunningIds(event, step);
  return event;
}

/** The event of a complete response. `undefined` when it is empty and the callbacks changed nothing. A promise only for `outputKey`. */
export function completeEvent(modelCall: ModelCall, response: ModelResponse): MaybePromise<Event | undefined> {
  const { ctx, definition, reader, step, span } = modelCall;
  let content = modelCall.ids.complete(response.content, false);
  if (content && reader) content = { ...content, parts: reader.whole(content.parts) };
  if (content && content.role === undefined) content = { ...content, role: 'model' };
  if (content && isLocal(definition.codeExecutor) && mayRunCode(definition.codeExecutor, ctx)) {
    content = cutAtCode(content, definition.codeExecutor);
  }
  const actions = modelCall.callbacks?.actions ?? newActions();
  modelCall.callbacks = undefined;
  // A content without parts is a response, too.
  if (!content && !hasOtherOutput(response) && !changesAnything(actions)) return undefined;
  const event = newEvent(ctx, definition.name, response);
  event.actions = actions;
  if (content !== response.content) event.content = content;
  if (!isTruncated(event)) addLongRunningIds(event, step);
  const isAnswer = isFinalResponse(event) && !(isLocal(definition.codeExecutor) && codeToRun(event));
  if (definition.outputKey !== undefined && isAnswer) return withOutput(event, modelCall);
  recordResponse(span, event);
  return event;
}

async function withOutput(event: Event, { ctx, definition, span }: ModelCall): Promise<Event> {
  const output = await outputOf(event.content, definition.outputSchema, ctx);
  if (output !== undefined && definition.outputKey !== undefined) {
    define(event.actions.stateDelta, definition.outputKey, output);
  }
  recordResponse(span, event);
  return event;
}

/** The event of a failed model call. */
export function failureEvent(modelCall: ModelCall, error: unknown): Event {
  const { ctx, definition, span } = modelCall;
  const event = newEvent(ctx, definition.name, {
    ...failureFields(error, ctx),
    actions: modelCall.callbacks?.actions ?? newActions(),
  });
  span.fail(error, ctx.errors?.detail(error)?.where);
  recordResponse(span, event);
  return event;
}

/** The error fields of an event. */
export function shownFailure(
  error: unknown,
  errors: RunContext['errors'],
): { message: string; origin: JsonObject | undefined } {
  if (!errors) return { message: errorText(error), origin: undefined };
  const shown = describeError(errors.report(error));
  return { message: shown.message, origin: originFields(shown) };
}

/** The error code of a model failure in an event: the provider's code, and our category. */
export function failureFields(
  error: unknown,
  { errors }: RunContext,
): Pick<Event, 'errorCode' | 'errorMessage' | 'customMetadata'> {
  const category = error instanceof ModelError ? { errorCategory: error.category } : undefined;
  const { message, origin } = shownFailure(errors ? asModelError(error) : error, errors);
  return {
    errorCode: codeOf(error),
    errorMessage: message,
    ...((category ?? origin) && { customMetadata: { ...category, ...origin } }),
  };
}

function codeOf(error: unknown): string {
  if (error instanceof ModelError) return error.providerCode ?? error.category;
  return error instanceof AppError ? error.code : 'UNKNOWN_ERROR';
}

/** The error for clients of a failure that the model's adapter did not foresee. */
export function asModelError(error: unknown): AppError {
  if (error instanceof AppError) return error;
  const what = 'The model failed';
  return new ModelError('UNKNOWN_ERROR', `${what}: ${errorText(error)}`, causedBy(error, what));
}

function addLongRunningIds(event: Event, step: LlmStep): void {
  if (!hasCalls(event.content)) return;
  const calls = functionCallsOf(event.content);
  const ids = longRunningIds(calls, step.tools.byName);
  if (ids) event.longRunningToolIds = ids;
}

function hasCalls(content: Content | undefined): boolean {
  for (const part of content?.parts ?? []) if (part.functionCall) return true;
  return false;
}

/** Whether the token limit cut the response off: arguments of its calls may be incomplete. */
export const isTruncated = (event: Event): boolean => event.finishReason === 'MAX_TOKENS';
