import { LinkedAbort, stopOnAbort } from '../../base/abort.ts';
import type { ThrownDetail } from '../../base/error-policy.ts';
import { AppError, errorText } from '../../base/errors.ts';
import type { JsonObject } from '../../base/json.ts';
import { newEvent } from '../../core/events/new-event.ts';
import type { LiveInput } from '../../core/model.ts';
import type { RunContext, Tool, ToolContext } from '../../core/runtime.ts';
import type { Content, FunctionCall } from '../../schemas/content.ts';
import { type Event, type EventActions, newActions } from '../../schemas/event.ts';
import { ToolCallContext } from '../callback-context.ts';
import type { LlmDefinition } from '../definition/llm-definition.ts';
import type { ResumedCalls } from '../tool-calls/resumed-calls.ts';
import { type StepTools, withTool } from '../tool-calls/step-tools.ts';
import { runCalls } from '../tool-calls/tool-phase.ts';
import { asResponse } from '../tool-calls/tool-result.ts';
import { InputTap } from './input-tap.ts';
import type { RendezvousChannel } from './rendezvous-channel.ts';
import { isStreaming, stopStreaming, stopStreamingTool } from './stop-streaming.ts';

/** A tool's event, and the content that the model gets once the event is stored. */
export interface ToolOutput {
  readonly event: Event;
  readonly forModel: Content | undefined;
}

interface RunningCall {
  readonly context: ToolContext;
  readonly abandon: (reason: AppError) => void;
}

interface RunningStream {
  readonly name: string;
  readonly abort: LinkedAbort;
  readonly tap: InputTap;
}

interface LiveToolsOptions {
  readonly definition: LlmDefinition;
  readonly tools: StepTools;
  readonly ctx: RunContext;
  readonly toolOutputs: RendezvousChannel<ToolOutput>;
}

/** Runs tools during a live conversation and sends their outputs to `toolOutputs`. */
export class LiveTools {
  readonly #definition: LlmDefinition;
  readonly #tools: StepTools;
  readonly #ctx: RunContext;
  readonly #toolOutputs: RendezvousChannel<ToolOutput>;
  readonly #running = new Map<string, RunningCall>();
  readonly #streams = new Map<string, RunningStream>();
  readonly #cancelled = new Set<string | undefined>();

  constructor({ definition, tools, ctx, toolOutputs }: LiveToolsOptions) {
    this.#definition = definition;
    this.#ctx = ctx;
    this.#toolOutputs = toolOutputs;
    const byName = new Map([...tools.byName].map(([name, tool]) => [name, this.#liveTool(tool)]));
    this.#tools = { ...tools, byName };
  }

  /** Runs the calls of one model response, all at once. */
  start(calls: readonly FunctionCall[]): void {
    void this.#run({ calls }, false);
  }

  /** Runs calls that the user confirmed. The model already got a response to each, so the new one is sent as text. */
  resume(resumed: ResumedCalls): void {
    void this.#run(resumed, true);
  }

  /** Copies the client's input to the running streaming tools. */
  tapInput(input: LiveInput): void {
    for (const { tap } of this.#streams.values()) tap.push(input);
  }

  /** Abandons calls that the model has cancelled. */
  cancel(ids: readonly string[]): void {
    const reason = new AppError('run_cancelled', 'The call was cancelled: the user interrupted it');
    for (const id of ids) {
      this.#cancelled.add(id);
      this.#running.get(id)?.abandon(reason);
      this.#streams.get(id)?.abort.abort(reason);
    }
  }

  /** Abandons all running calls and streams. */
  close(reason: AppError): void {
    for (const { abandon } of this.#running.values()) abandon(reason);
    for (const { abort } of this.#streams.values()) abort.abort(reason);
  }

  /** A tool's failure is a response. Any other error, such as one of a hook, ends the conversation. */
  async #run(run: { calls: readonly FunctionCall[] } & Partial<ResumedCalls>, asText: boolean): Promise<void> {
    try {
      const phase = { definition: this.#definition, tools: this.#tools, ...run };
      for await (const event of runCalls(phase, this.#ctx)) {
        const isReceived = await this.#toolOutputs.send({ event, forModel: this.#forModel(event, asText) });
        if (!isReceived) return;
      }
    } catch (error) {
      this.#toolOutputs.fail(error);
    }
  }

  /** The function responses of an event as the model gets them, without those of cancelled calls. */
  #forModel({ content }: Event, asText: boolean): Content | undefined {
    const parts = (content?.parts ?? []).filter(
      ({ functionResponse }) => functionResponse && !this.#cancelled.has(functionResponse.id),
    );
    if (parts.length === 0) return undefined;
    if (!asText) return { role: 'user', parts };
    const texts = parts.flatMap(({ functionResponse: answer }) =>
      answer ? [{ text: outputText(answer.name, answer.response) }] : [],
    );
    return { role: 'user', parts: texts };
  }

  /** The tool for a live conversation: its calls can be cancelled, and each item of a stream is a separate output. */
  #liveTool(tool: Tool): Tool {
    if (tool === stopStreaming) return stopStreamingTool((name) => this.#stopStreams(name));
    if (isStreaming(tool)) {
      return {
        ...tool,
        run: (args, { functionCallId }) => {
          void this.#runStream(tool, args, functionCallId);
          return { status: `"${tool.name}" is running. What it finds will be told as it comes.` };
        },
      };
    }
    const run = tool.run?.bind(tool);
    return run ? { ...tool, run: (args, ctx) => this.#cancellable(ctx, async () => run(args, ctx)) } : tool;
  }

  async #cancellable(context: ToolContext, run: () => Promise<unknown>): Promise<unknown> {
    const id = context.functionCallId;
    const cancelled = Promise.withResolvers<never>();
    const abandon = (reason: AppError): void => {
      if (context instanceof ToolCallContext) context.abandon(reason);
      cancelled.reject(reason);
    };
    this.#running.set(id, { context, abandon });
    try {
      return await Promise.race([run(), cancelled.promise]);
    } finally {
      this.#running.delete(id);
    }
  }

  /** Emits the items of a stream, one after another. */
  async #runStream(tool: Tool & Required<Pick<Tool, 'stream'>>, args: JsonObject, callId: string): Promise<void> {
    using stop = new LinkedAbort(this.#ctx.signal);
    const context = new ToolCallContext({ ...this.#ctx, signal: stop.signal }, callId);
    const tap = new InputTap();
    context.liveInput = tap;
    this.#streams.set(callId, { name: tool.name, abort: stop, tap });
    try {
      for await (const item of stopOnAbort(tool.stream(args, context), stop.signal)) {
        if (!(await this.#emit(tool.name, asResponse(item), context))) return;
      }
    } catch (error) {
      const thrown = this.#ctx.errors?.detail(error);
      if (!stop.signal.aborted) await this.#emit(tool.name, { error: errorText(error) }, context, thrown);
    } finally {
      this.#streams.delete(callId);
      tap.end();
      context.release();
    }
  }

  #emit(name: string, response: JsonObject, context: ToolCallContext, thrown?: ThrownDetail): Promise<boolean> {
    const content = { role: 'user', parts: [{ text: outputText(name, response) }] };
    const event = newEvent(this.#ctx, this.#ctx.agent.name, { content, actions: takeChanges(context) });
    if (thrown) event.customMetadata = { toolErrors: { [context.functionCallId]: { ...thrown } } };
    return this.#toolOutputs.send({ event, forModel: content });
  }

  /** Returns how many streams of the name were stopped. */
  #stopStreams(name: string): number {
    const found = [...this.#streams.values()].filter((stream) => stream.name === name);
    for (const { abort } of found) abort.abort(new AppError('run_cancelled', `"${name}" was stopped`));
    return found.length;
  }
}

/** The tools of a live conversation; adds `stop_streaming` when a tool streams. */
export function liveToolsOf(agent: string, tools: StepTools): StepTools {
  return [...tools.byName.values()].some(isStreaming) ? withTool(agent, tools, stopStreaming) : tools;
}

const outputText = (name: string, response: JsonObject): string =>
  `The function "${name}" returned: ${JSON.stringify(response)}`;

/** Takes the changes that the stream made since its last item. */
function takeChanges({ actions }: ToolCallContext): EventActions {
  const taken = newActions();
  for (const kind of ['stateDelta', 'artifactDelta'] as const) {
    Object.assign(taken[kind], actions[kind]);
    for (const key of Object.keys(actions[kind])) delete actions[kind][key];
  }
  return taken;
}
