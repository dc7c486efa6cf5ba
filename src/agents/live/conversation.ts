import { LinkedAbort, stopOnAbort } from '../../base/abort.ts';
import { AppError } from '../../base/errors.ts';
import { merge } from '../../base/merge.ts';
import { newEvent } from '../../core/events/new-event.ts';
import type { LiveInput, Model, ModelRequest, ModelResponse } from '../../core/model.ts';
import type { RunContext } from '../../core/runtime.ts';
import { functionCallsOf } from '../../schemas/content.ts';
import type { Event } from '../../schemas/event.ts';
import { changesAnything } from '../callback-context.ts';
import type { LlmPlan } from '../llm-plan.ts';
import { countCall } from '../model-calls/model-call.ts';
import { checkedResponse } from '../model-calls/model-response-check.ts';
import { asModelError, failureFields } from '../model-calls/response-event.ts';
import { buildRequest, type LlmStep } from '../request/build-request.ts';
import { callsReleasedByUser } from '../tool-calls/resumed-calls.ts';
import type { HandoverInput } from './handover-input.ts';
import { liveConfigOf } from './live-config.ts';
import { LiveEvents } from './live-events.ts';
import { LiveTools, liveToolsOf, type ToolOutput } from './live-tools.ts';
import { ModelInput } from './model-input.ts';
import { RendezvousChannel } from './rendezvous-channel.ts';
import { isTaskCompleted } from './task-completed.ts';

export type ConnectedModel = Model & Required<Pick<Model, 'connect'>>;

/** What the conversation handles next: a response or failure of the model, the end of its connection, or a tool output. */
type LiveSignal = { readonly response: ModelResponse } | { readonly failure: unknown } | 'end' | ToolOutput;

/**
 * Runs a conversation over a connection to the model: the client's input goes to the model as it arrives, and tools run
 * at the same time. Returns the name of the agent that the conversation was transferred to, if any.
 *
 *     client -> HandoverInput -> ModelInput -> model.connect -> LiveEvents -> events
 *                                 |      ^                          |
 *                          InputTap      | function responses       | function calls
 *                  (streaming tools)     |                          v
 *                                       RendezvousChannel <----- LiveTools
 */
export async function* converse(
  { plan, model }: { plan: LlmPlan; model: ConnectedModel },
  runContext: RunContext,
  input: HandoverInput,
): AsyncGenerator<Event, string | undefined, void> {
  using abort = new LinkedAbort(runContext.signal);
  const ctx: RunContext = { ...runContext, signal: abort.signal };
  const { definition } = plan;
  const step = await liveStep(plan, model.name, ctx);
  if (step.callbacks && changesAnything(step.callbacks.actions)) {
    yield newEvent(ctx, definition.name, { actions: step.callbacks.actions });
  }
  const { request, tools, contentsSource } = step;
  const toolOutputs = new RendezvousChannel<ToolOutput>();
  const liveTools = new LiveTools({ definition, tools, ctx, toolOutputs });
  const modelInput = new ModelInput(input, {
    onClientInput: (clientInput) => liveTools.tapInput(clientInput),
    onUserResponse: () => void runResumedCalls(ctx, liveTools, toolOutputs),
  });
  using events = new LiveEvents({ definition, tools: tools.byName, request, contentsSource, ctx });
  request.onRetry = (retry) => events.noteRetry(retry);
  const onStop = (): void => {
    const reason = new AppError('run_cancelled', `The conversation with "${definition.name}" is over`);
    modelInput.close();
    liveTools.close(reason);
    abort.abort(reason);
    toolOutputs.close();
  };
  const sources = [modelSignals(model, request, modelInput.inputs(), ctx.signal), toolOutputs];
  if (ctx.budget) await ctx.budget.checkLive(ctx.signal);
  for await (const signal of merge<LiveSignal>(sources, { onStop })) {
    if (signal === 'end') return undefined;
    if ('failure' in signal) {
      yield newEvent(ctx, definition.name, failureFields(signal.failure, ctx));
      throw asModelError(signal.failure);
    }
    if ('response' in signal) {
      const { response } = signal;
      if (response.toolCallCancellation) liveTools.cancel(response.toolCallCancellation.ids);
      const event = events.eventOf(response);
      if (event) yield event;
      if (ctx.budget && (response.usageMetadata || response.turnComplete)) {
        const calls = response.turnComplete ? 1 : 0;
        await ctx.budget.countLive({ model: model.name, usage: response.usageMetadata, calls }, ctx.signal);
      }
      if (response.turnComplete) ctx.calls.count = 0;
      const calls = event && !event.partial ? functionCallsOf(event.content) : [];
      if (calls.length > 0) {
        countCall(ctx);
        liveTools.start(calls);
      }
      continue;
    }
    const { event, forModel } = signal;
    yield event;
    if (event.actions.transferToAgent !== undefined) return event.actions.transferToAgent;
    if (isTaskCompleted(event) || event.actions.endOfAgent || ctx.control.ended) return undefined;
    if (forModel) modelInput.send(forModel);
  }
  return undefined;
}

/** The request of a connection: that of a step, but without an output schema, which speech cannot follow. */
async function liveStep(plan: LlmPlan, model: string, ctx: RunContext): Promise<LlmStep> {
  const definition = { ...plan.definition, outputSchema: undefined };
  const step = await buildRequest({ ...plan, definition }, model, ctx);
  const tools = liveToolsOf(definition.name, step.tools);
  const request: ModelRequest = { ...step.request, stream: true, liveConfig: liveConfigOf(ctx.runConfig) };
  if (tools !== step.tools) {
    const [functions, ...builtIns] = request.config.tools ?? [];
    request.config.tools = [{ ...functions, functionDeclarations: [...tools.declarations] }, ...builtIns];
  }
  return { ...step, request, tools };
}

/** The model's responses, then its failure or `end`. */
async function* modelSignals(
  model: ConnectedModel,
  request: ModelRequest,
  inputs: AsyncIterable<LiveInput>,
  signal: AbortSignal,
): AsyncGenerator<LiveSignal, void, void> {
  try {
    for await (const given of stopOnAbort(model.connect(request, inputs, signal), signal)) {
      yield { response: await checkedResponse(given) };
    }
    yield 'end';
  } catch (failure) {
    signal.throwIfAborted();
    yield { failure };
  }
}

/** Runs the calls that the user has just confirmed or given a credential for. */
async function runResumedCalls(
  ctx: RunContext,
  liveTools: LiveTools,
  toolOutputs: RendezvousChannel<ToolOutput>,
): Promise<void> {
  try {
    const resumed = await callsReleasedByUser(ctx);
    if (resumed) liveTools.resume(resumed);
  } catch (error) {
    toolOutputs.fail(error);
  }
}
