import { stopOnAbort } from '../base/abort.ts';
import { AppError } from '../base/errors.ts';
import { callAround, firstResult, hasHook } from '../core/hooks.ts';
import type { Model, ModelResponse } from '../core/model.ts';
import { defaultLimits } from '../core/run-config.ts';
import type { MaybePromise, RunContext } from '../core/runtime.ts';
import type { Event } from '../schemas/event.ts';
import { CallIds } from './call-ids.ts';
import { StepContext } from './callback-context.ts';
import type { LlmDefinition } from './llm-definition.ts';
import { checkedAnswer, markedIfSilent } from './model-answer.ts';
import { noteRequest, openModelSpan, retryNotes } from './model-span.ts';
import type { LlmStep } from './request/build-request.ts';
import { asModelError, errorEvent, fragmentEvent, type Question, wholeEvent } from './response-event.ts';

/**
 * Puts one question to the model, with the callbacks around it, and yields the events its answer becomes: fragments as
 * they come, then the whole, which it also returns. A model that throws leaves an error event behind, and the error goes
 * on unless the run says that the event is enough. Throws LlmCallsLimitExceededException before the call that is one too many.
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
  step.request.onRetry = retryNotes(span);
  let stream: AsyncIterator<ModelResponse, void> | undefined;
  try {
    const isHooked = hasHook(ctx, 'beforeModel', definition.callbacks.beforeModel);
    const early = isHooked ? await callBeforeModel(question) : undefined;
    noteRequest(span, step.request, ctx, step.remake);
    if (early) {
      const event = await wholeEvent(question, checkedAnswer(early));
      if (event) yield event;
      return event;
    }
    if (ctx.control.ended) return undefined;
    countCall(ctx);
    let last: Event | undefined;
    // What a plugin answers in the place of the model may be nothing.
    let hasAnswered = hasHook(ctx, 'aroundModel');
    let failure: { readonly error: unknown } | undefined;
    for (;;) {
      let response: ModelResponse;
      try {
        stream ??= stopOnAbort(answersOf(question, model), ctx.signal);
        const result = await stream.next();
        if (result.done && hasAnswered) break;
        const given = result.done ? {} : checkedAnswer(result.value);
        response = hasAnswered ? given : markedIfSilent(given);
        hasAnswered ||= !response.partial;
      } catch (error) {
        ctx.signal.throwIfAborted();
        failure = { error };
        break;
      }
      const made = question.hasAfterModel ? reviewedEvent(question, response) : eventOf(question, response);
      const event = made instanceof Promise ? await made : made;
      if (event && !event.partial) last = event;
      if (event) yield event;
    }
    if (failure) {
      const replacement = await callOnModelError(question, failure.error);
      last = replacement
        ? await reviewedEvent(question, checkedAnswer(replacement))
        : errorEvent(question, failure.error);
      if (last) yield last;
      if (!replacement && ctx.runConfig.onModelFailure !== 'end') throw asModelError(failure.error);
    }
    return last;
  } catch (error) {
    span.fail(error);
    throw error;
  } finally {
    void stream?.return?.(); // it does not wait for the model either
    span.end();
  }
}

/** Counts a call of a model. Throws LlmCallsLimitExceededException when it is one too many. */
export function countCall({ calls, runConfig }: RunContext): void {
  const limit = runConfig.maxLlmCalls ?? defaultLimits.maxLlmCalls;
  if (limit > 0 && calls.count >= limit) {
    throw new AppError('LlmCallsLimitExceededException', `The run has used up its ${limit} model calls`);
  }
  calls.count += 1;
}

/** What the model answers, or the plugins that stand around it, the first plugin outermost. */
function answersOf(question: Question, model: Model): AsyncIterable<ModelResponse> {
  const { ctx, step } = question;
  const { request } = step;
  if (!hasHook(ctx, 'aroundModel')) return model.generate(request, ctx.signal);
  const context = contextOf(question);
  return callAround(ctx, 'aroundModel', { request, context }, () => neverSilent(model.generate(request, ctx.signal)));
}

/** The answers of a model, where plugins stand around it. */
async function* neverSilent(answers: AsyncIterable<ModelResponse>): AsyncGenerator<ModelResponse, void, void> {
  let hasAnswered = false;
  for await (const answer of answers) {
    const given = checkedAnswer(answer);
    yield hasAnswered ? given : markedIfSilent(given);
    hasAnswered ||= !given.partial;
  }
  if (!hasAnswered) yield markedIfSilent({});
}

const contextOf = (question: Question): StepContext => (question.callbacks ??= new StepContext(question.ctx));

async function callBeforeModel(question: Question): Promise<ModelResponse | undefined> {
  const { ctx, definition, step } = question;
  const params = { request: step.request, context: contextOf(question) };
  return firstResult(ctx, 'beforeModel', params, definition.callbacks.beforeModel);
}

async function callOnModelError(question: Question, error: unknown): Promise<ModelResponse | undefined> {
  const { ctx, definition, step } = question;
  if (!hasHook(ctx, 'onModelError', definition.callbacks.onModelError)) return undefined;
  const params = { request: step.request, error, context: contextOf(question) };
  return firstResult(ctx, 'onModelError', params, definition.callbacks.onModelError);
}

/** The event of a response once the after-model callbacks have seen it; they see fragments too. */
async function reviewedEvent(question: Question, response: ModelResponse): Promise<Event | undefined> {
  if (!question.hasAfterModel) return eventOf(question, response);
  const { ctx, definition } = question;
  const params = { response, context: contextOf(question) };
  const answer = await firstResult(ctx, 'afterModel', params, definition.callbacks.afterModel);
  return eventOf(question, answer ? checkedAnswer(answer) : response);
}

/** Synchronous for fragments: waiting costs more than making them. */
const eventOf = (question: Question, response: ModelResponse): MaybePromise<Event | undefined> =>
  response.partial ? fragmentEvent(question, response) : wholeEvent(question, response);
