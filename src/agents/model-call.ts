import { randomUUID } from 'node:crypto';
import { AppError, errorText } from '../base/errors.ts';
import { define } from '../base/json.ts';
import { type Model, ModelError, type ModelResponse } from '../core/model.ts';
import { eventTime, newEvent } from '../core/new-event.ts';
import type { RunContext } from '../core/runtime.ts';
import { type Content, functionCallsOf } from '../schemas/content.ts';
import { type Event, type EventActions, isFinalResponse, newActions } from '../schemas/event.ts';
import type { OpenSpan } from '../telemetry/spans.ts';
import { CallIds, longRunningIds } from './call-ids.ts';
import { changesAnything, StepContext } from './callback-context.ts';
import { firstAnswer, hasHook } from './hooks.ts';
import type { LlmDefinition } from './llm-definition.ts';
import { noteAnswer, noteRequest, openModelSpan } from './model-span.ts';
import { ModelStream } from './model-stream.ts';
import { outputOf } from './output-schema.ts';
import type { AnswerReader } from './planners.ts';
import type { LlmStep } from './request/build-request.ts';

const defaultMaxCalls = 500;
/** Fragments carry no actions: they share these. */
const noActions: EventActions = Object.freeze(newActions());

/** One question to a model, and what its answer is read with. */
interface Question {
  readonly definition: LlmDefinition;
  readonly step: LlmStep;
  readonly ctx: RunContext;
  readonly span: OpenSpan;
  readonly ids: CallIds;
  readonly reader: AnswerReader | undefined;
  readonly hasAfterModel: boolean;
  /** Shared by the callbacks of one step; their changes go out with the answer. */
  callbacks: StepContext | undefined;
}

/**
 * Puts one question to the model, with the callbacks around it, and yields the events its answer becomes: fragments as
 * they come, then the whole, which it also returns. A model that throws leaves an error event behind, and the error goes on. Throws
 * LlmCallsLimitExceededException before the call that is one too many.
 */
export async function* askModel(
  definition: LlmDefinition,
  model: Model,
  step: LlmStep,
  ctx: RunContext,
): AsyncGenerator<Event, Event | undefined, void> {
  const question: Question = {
    definition,
    step,
    ctx,
    span: openModelSpan(step.request, ctx),
    ids: new CallIds(),
    reader: definition.planner?.readAnswer?.(),
    hasAfterModel: hasHook(ctx, 'afterModel', definition.callbacks.afterModel),
    callbacks: step.callbacks,
  };
  const { span } = question;
  let stream: ModelStream | undefined;
  try {
    const early = await askBefore(question);
    noteRequest(span, step.request);
    if (early) {
      const event = await wholeEvent(question, early);
      if (event) yield event;
      return event;
    }
    if (ctx.control.ended) return undefined;
    countCall(ctx);
    let last: Event | undefined;
    let failure: { readonly error: unknown } | undefined;
    for (;;) {
      let response: ModelResponse | undefined;
      try {
        stream ??= new ModelStream(model.generate(step.request, ctx.signal), ctx.signal);
        response = await stream.next();
      } catch (error) {
        ctx.signal.throwIfAborted();
        failure = { error };
        break;
      }
      if (response === undefined) break;
      const event =
        response.partial && !question.hasAfterModel
          ? fragmentEvent(question, response)
          : await reviewedEvent(question, response);
      if (event && !event.partial) last = event;
      if (event) yield event;
    }
    if (failure) {
      const replacement = await askOnError(question, failure.error);
      last = replacement ? await reviewedEvent(question, replacement) : errorEvent(question, failure.error);
      if (last) yield last;
      if (!replacement) throw asModelError(failure.error);
    }
    return last;
  } catch (error) {
    span.fail(error);
    throw error;
  } finally {
    stream?.close();
    span.end();
  }
}

function countCall({ calls, runConfig }: RunContext): void {
  const limit = runConfig.maxLlmCalls ?? defaultMaxCalls;
  if (limit > 0 && calls.count >= limit) {
    throw new AppError('LlmCallsLimitExceededException', `The run has used up its ${limit} model calls`);
  }
  calls.count += 1;
}

const contextOf = (question: Question): StepContext => (question.callbacks ??= new StepContext(question.ctx));

async function askBefore(question: Question): Promise<ModelResponse | undefined> {
  const { ctx, definition, step } = question;
  if (!hasHook(ctx, 'beforeModel', definition.callbacks.beforeModel)) return undefined;
  const context = contextOf(question);
  return firstAnswer<'beforeModel', ModelResponse>(ctx, 'beforeModel', definition.callbacks.beforeModel, (hook) =>
    hook(step.request, context),
  );
}

async function askOnError(question: Question, error: unknown): Promise<ModelResponse | undefined> {
  const { ctx, definition, step } = question;
  if (!hasHook(ctx, 'onModelError', definition.callbacks.onModelError)) return undefined;
  const context = contextOf(question);
  return firstAnswer<'onModelError', ModelResponse>(ctx, 'onModelError', definition.callbacks.onModelError, (hook) =>
    hook(step.request, error, context),
  );
}

/** The event of a response once the after-model callbacks have seen it; they see fragments too. */
async function reviewedEvent(question: Question, response: ModelResponse): Promise<Event | undefined> {
  let reviewed = response;
  if (question.hasAfterModel) {
    const context = contextOf(question);
    const { ctx, definition } = question;
    const answer = await firstAnswer<'afterModel', ModelResponse>(
      ctx,
      'afterModel',
      definition.callbacks.afterModel,
      (hook) => hook(response, context),
    );
    if (answer) reviewed = answer;
  }
  return reviewed.partial ? fragmentEvent(question, reviewed) : wholeEvent(question, reviewed);
}

function fragmentEvent(question: Question, response: ModelResponse): Event | undefined {
  const { ctx, definition, reader, step } = question;
  let content = question.ids.complete(response.content, true);
  if (content && reader) content = { ...content, parts: reader.partial(content.parts) };
  if (!isWorthAnEvent(response, content)) return undefined;
  const event: Event = {
    id: randomUUID(),
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

/** The event of a whole answer. `undefined` when it says nothing and the callbacks changed nothing. */
async function wholeEvent(question: Question, response: ModelResponse): Promise<Event | undefined> {
  const { ctx, definition, reader, step, span } = question;
  let content = question.ids.complete(response.content, false);
  if (content && reader) content = { ...content, parts: reader.whole(content.parts) };
  if (content && content.role === undefined) content = { ...content, role: 'model' };
  const actions = question.callbacks?.actions ?? newActions();
  question.callbacks = undefined;
  if (!isWorthAnEvent(response, content) && !changesAnything(actions)) return undefined;
  const event = newEvent(ctx, definition.name, response);
  event.actions = actions;
  if (content !== response.content) event.content = content;
  if (!isTruncated(event)) addLongRunningIds(event, step);
  if (definition.outputKey !== undefined && isFinalResponse(event)) {
    const output = await outputOf(content, definition.outputSchema, ctx);
    if (output !== undefined) define(actions.stateDelta, definition.outputKey, output);
  }
  noteAnswer(span, event);
  return event;
}

function errorEvent(question: Question, error: unknown): Event {
  const { ctx, definition, span } = question;
  const event = newEvent(ctx, definition.name, {
    errorCode: codeOf(error),
    errorMessage: errorText(error),
    actions: question.callbacks?.actions ?? newActions(),
  });
  span.fail(error);
  noteAnswer(span, event);
  return event;
}

function codeOf(error: unknown): string {
  if (error instanceof ModelError) return error.providerCode ?? error.category;
  return error instanceof AppError ? error.code : 'UNKNOWN_ERROR';
}

/** What callers get to see of a failure the model's adapter did not foresee. */
function asModelError(error: unknown): AppError {
  if (error instanceof AppError) return error;
  return new ModelError('UNKNOWN_ERROR', `The model failed: ${errorText(error)}`, { cause: error });
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

/** Whether the answer was cut off, so that arguments of calls in it may be incomplete. */
export const isTruncated = (event: Event): boolean => event.finishReason === 'MAX_TOKENS';

/** Usage alone is nothing to show. */
const isWorthAnEvent = (response: ModelResponse, content: Content | undefined): boolean =>
  (content !== undefined && content.parts.length > 0) ||
  response.errorCode !== undefined ||
  response.interrupted === true ||
  response.turnComplete === true ||
  response.inputTranscription !== undefined ||
  response.outputTranscription !== undefined ||
  response.groundingMetadata !== undefined;
