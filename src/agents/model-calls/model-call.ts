import { stopOnAbort } from '../../base/abort.ts';
import { AppError } from '../../base/errors.ts';
import { callAround, firstResult, hasHook } from '../../core/hooks.ts';
import type { Model, ModelResponse } from '../../core/model.ts';
import type { ReservedModelCall } from '../../core/run-budget.ts';
import { defaultLimits } from '../../core/run-config.ts';
import type { MaybePromise, RunContext } from '../../core/runtime.ts';
import type { Event } from '../../schemas/event.ts';
import { CallIds } from '../call-ids.ts';
import { CallbackContextImpl } from '../callback-context.ts';
import type { LlmDefinition } from '../definition/llm-definition.ts';
import type { LlmStep } from '../request/build-request.ts';
import { checkedResponse, markedIfEmpty } from './model-response-check.ts';
import { recordRequest, openModelSpan, retryRecorder } from './model-span.ts';
import { asModelError, failureEvent, partialEvent, type ModelCall, completeEvent } from './response-event.ts';

/**
 * Calls the model once, with the model hooks, and yields the events of its response: chunks as they arrive, then the
 * complete event, which it also returns. When the model throws, yields an error event and rethrows the error, unless
 * `onModelFailure` is `end`. Throws LlmCallsLimitExceededException before a call above the run's limit, and what the run's
 * budget throws.
 */
export async function* callModel(
  definition: LlmDefinition,
  model: Model,
  step: LlmStep,
  ctx: RunContext,
): AsyncGenerator<Event, Event | undefined, void> {
  const modelCall: ModelCall = {
    definition,
    step,
    ctx,
    span: openModelSpan(step.request, ctx),
    ids: new CallIds(),
    reader: definition.planner?.readAnswer?.(),
    hasAfterModel: hasHook(ctx, 'afterModel', definition.callbacks.afterModel),
    callbacks: step.callbacks,
  };
  const { span } = modelCall;
  step.request.onRetry = retryRecorder(span);
  let stream: AsyncIterator<ModelResponse, void> | undefined;
  let reserved: ReservedModelCall | undefined;
  try {
    const isHooked = hasHook(ctx, 'beforeModel', definition.callbacks.beforeModel);
    const early = isHooked ? await callBeforeModel(modelCall) : undefined;
    recordRequest(span, step.request, ctx, step.contentsSource);
    if (early) {
      const event = await completeEvent(modelCall, await checkedResponse(early));
      if (event) yield event;
      return event;
    }
    if (ctx.control.ended) return undefined;
    countCall(ctx);
    if (ctx.budget) reserved = await ctx.budget.reserveModelCall(step.request, ctx);
    let last: Event | undefined;
    // The response of a plugin in place of the model may be empty.
    let hasAnswered = hasHook(ctx, 'aroundModel');
    let failure: { readonly error: unknown } | undefined;
    for (;;) {
      let response: ModelResponse;
      try {
        stream ??= stopOnAbort(responsesOf(modelCall, model), ctx.signal);
        const result = await stream.next();
        if (result.done && hasAnswered) break;
        const checked = result.done ? {} : checkedResponse(result.value);
        const given = checked instanceof Promise ? await checked : checked;
        response = hasAnswered ? given : markedIfEmpty(given);
        hasAnswered ||= !response.partial;
        reserved?.note(given);
      } catch (error) {
        ctx.signal.throwIfAborted();
        failure = { error };
        break;
      }
      if (reserved && !response.partial) await reserved.settle();
      const made = modelCall.hasAfterModel ? eventAfterCallbacks(modelCall, response) : eventOf(modelCall, response);
      const event = made instanceof Promise ? await made : made;
      if (event && !event.partial) last = event;
      if (event) yield event;
    }
    if (failure) {
      const replacement = await callOnModelError(modelCall, failure.error);
      last = replacement
        ? await eventAfterCallbacks(modelCall, await checkedResponse(replacement))
        : failureEvent(modelCall, failure.error);
      if (last) yield last;
      if (!replacement && ctx.runConfig.onModelFailure !== 'end') throw asModelError(failure.error);
    }
    return last;
  } catch (error) {
    span.fail(error);
    throw error;
  } finally {
    void stream?.return?.(); // it does not wait for the model either
    if (reserved) await reserved.settle();
    span.end();
  }
}

/** Counts a model call of the run. Throws LlmCallsLimitExceededException above the limit. */
export function countCall({ calls, runConfig }: RunContext): void {
  const limit = runConfig.maxLlmCalls ?? defaultLimits.maxLlmCalls;
  if (limit > 0 && calls.count >= limit) {
    throw new AppError('LlmCallsLimitExceededException', `The run has used up its ${limit} model calls`);
  }
  calls.count += 1;
}

/** The model's responses, through the plugins' `aroundModel` hooks, the first plugin outermost. */
function responsesOf(modelCall: ModelCall, model: Model): AsyncIterable<ModelResponse> {
  const { ctx, step } = modelCall;
  const { request } = step;
  if (!hasHook(ctx, 'aroundModel')) return model.generate(request, ctx.signal);
  const context = contextOf(modelCall);
  return callAround(ctx, 'aroundModel', { request, context }, () =>
    withEmptyMarked(model.generate(request, ctx.signal)),
  );
}

/** The model's responses with an empty one marked as an error, before `aroundModel` hooks get them. */
async function* withEmptyMarked(answers: AsyncIterable<ModelResponse>): AsyncGenerator<ModelResponse, void, void> {
  let hasAnswered = false;
  for await (const answer of answers) {
    const given = await checkedResponse(answer);
    yield hasAnswered ? given : markedIfEmpty(given);
    hasAnswered ||= !given.partial;
  }
  if (!hasAnswered) yield markedIfEmpty({});
}

const contextOf = (modelCall: ModelCall): CallbackContextImpl =>
  (modelCall.callbacks ??= new CallbackContextImpl(modelCall.ctx));

async function callBeforeModel(modelCall: ModelCall): Promise<ModelResponse | undefined> {
  const { ctx, definition, step } = modelCall;
  const params = { request: step.request, context: contextOf(modelCall) };
  return firstResult(ctx, 'beforeModel', params, definition.callbacks.beforeModel);
}

async function callOnModelError(modelCall: ModelCall, error: unknown): Promise<ModelResponse | undefined> {
  const { ctx, definition, step } = modelCall;
  if (!hasHook(ctx, 'onModelError', definition.callbacks.onModelError)) return undefined;
  const params = { request: step.request, error, context: contextOf(modelCall) };
  return firstResult(ctx, 'onModelError', params, definition.callbacks.onModelError);
}

/** The event of a response after the `afterModel` hooks, which get chunks, too. */
async function eventAfterCallbacks(modelCall: ModelCall, response: ModelResponse): Promise<Event | undefined> {
  if (!modelCall.hasAfterModel) return eventOf(modelCall, response);
  const { ctx, definition } = modelCall;
  const params = { response, context: contextOf(modelCall) };
  const answer = await firstResult(ctx, 'afterModel', params, definition.callbacks.afterModel);
  return eventOf(modelCall, answer ? await checkedResponse(answer) : response);
}

/** Synchronous for chunks: a promise would cost more than the chunk. */
const eventOf = (modelCall: ModelCall, response: ModelResponse): MaybePromise<Event | undefined> =>
  response.partial ? partialEvent(modelCall, response) : completeEvent(modelCall, response);
