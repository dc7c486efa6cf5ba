import { LinkedAbort, stopOnAbort } from '../../base/abort.ts';
import { AppError } from '../../base/errors.ts';
import { merge } from '../../base/merge.ts';
import type { LiveInput, Model, ModelRequest, ModelResponse } from '../../core/model.ts';
import { newEvent } from '../../core/new-event.ts';
import type { RunContext } from '../../core/runtime.ts';
import { functionCallsOf } from '../../schemas/content.ts';
import type { Event } from '../../schemas/event.ts';
import { changesAnything } from '../callback-context.ts';
import { freedByUser } from '../freed-calls.ts';
import type { LlmPlan } from '../llm-plan.ts';
import { checkedAnswer } from '../model-answer.ts';
import { countCall } from '../model-call.ts';
import { buildRequest, type LlmStep } from '../request/build-request.ts';
import { asModelError, failureFields } from '../response-event.ts';
import { Line } from './line.ts';
import { liveConfigOf } from './live-config.ts';
import { LiveEvents } from './live-events.ts';
import { LiveTools, liveToolsOf, type Told } from './live-tools.ts';
import { Mailbox } from './mailbox.ts';
import type { SharedInput } from './shared-input.ts';
import { isTaskCompleted } from './task-completed.ts';

export type ConnectedModel = Model & Required<Pick<Model, 'connect'>>;

/** What is heard next: something of the model, why it failed, that it has hung up, or something of tools. */
type Heard = { readonly response: ModelResponse } | { readonly failure: unknown } | 'end' | Told;

/**
 * Talks over a connection to the model: what the client says goes in as it comes, and tools run while both talk. Returns
 * the name of the agent that was handed over to, if that is how it ended.
 */
export async function* converse(
  { plan, model }: { plan: LlmPlan; model: ConnectedModel },
  entered: RunContext,
  input: SharedInput,
): AsyncGenerator<Event, string | undefined, void> {
  using abort = new LinkedAbort(entered.signal);
  const ctx: RunContext = { ...entered, signal: abort.signal };
  const { definition } = plan;
  const step = await liveStep(plan, model.name, ctx);
  if (step.callbacks && changesAnything(step.callbacks.actions)) {
    yield newEvent(ctx, definition.name, { actions: step.callbacks.actions });
  }
  const { request, tools, remake } = step;
  const mailbox = new Mailbox<Told>();
  const running = new LiveTools({ definition, tools, ctx, mailbox });
  const line = new Line(input, {
    onSaid: (said) => running.overhear(said),
    onVerdict: () => void resume(ctx, running, mailbox),
  });
  using events = new LiveEvents({ definition, tools: tools.byName, request, remake, ctx });
  request.onRetry = (retry) => events.noteRetry(retry);
  const onStop = (): void => {
    const reason = new AppError('run_cancelled', `The conversation with "${definition.name}" is over`);
    line.close();
    running.close(reason);
    abort.abort(reason);
    mailbox.close();
  };
  const sources = [heardFrom(model, request, line.inputs(), ctx.signal), mailbox];
  for await (const heard of merge<Heard>(sources, { onStop })) {
    if (heard === 'end') return undefined;
    if ('failure' in heard) {
      yield newEvent(ctx, definition.name, failureFields(heard.failure, ctx));
      throw asModelError(heard.failure);
    }
    if ('response' in heard) {
      const { response } = heard;
      if (response.toolCallCancellation) running.cancel(response.toolCallCancellation.ids);
      const event = events.eventOf(response);
      if (event) yield event;
      if (response.turnComplete) ctx.calls.count = 0;
      const calls = event && !event.partial ? functionCallsOf(event.content) : [];
      if (calls.length > 0) {
        countCall(ctx);
        running.start(calls);
      }
      continue;
    }
    const { event, tells } = heard;
    yield event;
    if (event.actions.transferToAgent !== undefined) return event.actions.transferToAgent;
    if (isTaskCompleted(event) || event.actions.endOfAgent || ctx.control.ended) return undefined;
    if (tells) line.send(tells);
  }
  return undefined;
}

/** The request of a connection: as for a step, but what is said is not held to a schema. */
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

/** What the model says, and how it ended. */
async function* heardFrom(
  model: ConnectedModel,
  request: ModelRequest,
  inputs: AsyncIterable<LiveInput>,
  signal: AbortSignal,
): AsyncGenerator<Heard, void, void> {
  try {
    for await (const given of stopOnAbort(model.connect(request, inputs, signal), signal)) {
      yield { response: checkedAnswer(given) };
    }
    yield 'end';
  } catch (failure) {
    signal.throwIfAborted();
    yield { failure };
  }
}

/** Goes on with the calls the user has allowed. */
async function resume(ctx: RunContext, running: LiveTools, mailbox: Mailbox<Told>): Promise<void> {
  try {
    const freed = await freedByUser(ctx);
    if (freed) running.resume(freed);
  } catch (error) {
    mailbox.fail(error);
  }
}
