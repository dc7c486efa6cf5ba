import { LinkedAbort, stopOnAbort } from '../../base/abort.ts';
import type { ThrownDetail } from '../../base/error-policy.ts';
import { AppError, errorText } from '../../base/errors.ts';
import type { JsonObject } from '../../base/json.ts';
import type { LiveInput } from '../../core/model.ts';
import { newEvent } from '../../core/new-event.ts';
import type { RunContext, Tool, ToolContext } from '../../core/runtime.ts';
import type { Content, FunctionCall } from '../../schemas/content.ts';
import { type Event, type EventActions, newActions } from '../../schemas/event.ts';
import { ToolCallContext } from '../callback-context.ts';
import type { Resumption } from '../freed-calls.ts';
import type { LlmDefinition } from '../llm-definition.ts';
import { type StepTools, withTool } from '../step-tools.ts';
import { answerCalls } from '../tool-phase.ts';
import { asResponse } from '../tool-result.ts';
import type { Mailbox } from './mailbox.ts';
import { Overheard } from './overheard.ts';
import { isStreaming, stopStreaming, stopStreamingTool } from './stop-streaming.ts';

/** Something tools have to say: an event, and what of it the model is told once it is stored. */
export interface Told {
  readonly event: Event;
  readonly tells: Content | undefined;
}

interface Running {
  readonly context: ToolContext;
  readonly giveUp: (reason: AppError) => void;
}

interface Stream {
  readonly name: string;
  readonly stop: LinkedAbort;
  readonly overheard: Overheard;
}

interface LiveToolsOptions {
  readonly definition: LlmDefinition;
  readonly tools: StepTools;
  readonly ctx: RunContext;
  readonly mailbox: Mailbox<Told>;
}

/** Runs tools while the conversation goes on. What comes of them goes into the mailbox. */
export class LiveTools {
  readonly #definition: LlmDefinition;
  readonly #tools: StepTools;
  readonly #ctx: RunContext;
  readonly #mailbox: Mailbox<Told>;
  readonly #running = new Map<string, Running>();
  readonly #streams = new Map<string, Stream>();
  readonly #cancelled = new Set<string | undefined>();

  constructor({ definition, tools, ctx, mailbox }: LiveToolsOptions) {
    this.#definition = definition;
    this.#ctx = ctx;
    this.#mailbox = mailbox;
    const byName = new Map([...tools.byName].map(([name, tool]) => [name, this.#inLive(tool)]));
    this.#tools = { ...tools, byName };
  }

  /** Runs the calls of one message of the model, all at once. */
  start(calls: readonly FunctionCall[]): void {
    void this.#answer({ calls }, false);
  }

  /** Runs calls the user has set free. The model had an answer to them before, so it is told of this one in words. */
  resume(freed: Resumption): void {
    void this.#answer(freed, true);
  }

  /** Lets streams that listen along hear what the client said. */
  overhear(input: LiveInput): void {
    for (const { overheard } of this.#streams.values()) overheard.hear(input);
  }

  /** Gives up calls whose answers the model does not want any more. */
  cancel(ids: readonly string[]): void {
    const reason = new AppError('run_cancelled', 'The call was cancelled: the user interrupted it');
    for (const id of ids) {
      this.#cancelled.add(id);
      this.#running.get(id)?.giveUp(reason);
      this.#streams.get(id)?.stop.abort(reason);
    }
  }

  /** Stops all that runs. */
  close(reason: AppError): void {
    for (const { giveUp } of this.#running.values()) giveUp(reason);
    for (const { stop } of this.#streams.values()) stop.abort(reason);
  }

  /** Failures of tools are answers; what gets here, such as a callback that throws, ends the conversation. */
  async #answer(freed: { calls: readonly FunctionCall[] } & Partial<Resumption>, inWords: boolean): Promise<void> {
    try {
      const phase = { definition: this.#definition, tools: this.#tools, ...freed };
      for await (const event of answerCalls(phase, this.#ctx)) {
        const isTaken = await this.#mailbox.put({ event, tells: this.#tellsOf(event, inWords) });
        if (!isTaken) return;
      }
    } catch (error) {
      this.#mailbox.fail(error);
    }
  }

  /** The answers in an event of tools, as the model gets them. */
  #tellsOf({ content }: Event, inWords: boolean): Content | undefined {
    const parts = (content?.parts ?? []).filter(
      ({ functionResponse }) => functionResponse && !this.#cancelled.has(functionResponse.id),
    );
    if (parts.length === 0) return undefined;
    if (!inWords) return { role: 'user', parts };
    const texts = parts.flatMap(({ functionResponse: answer }) =>
      answer ? [{ text: returned(answer.name, answer.response) }] : [],
    );
    return { role: 'user', parts: texts };
  }

  /** The tool as it is in a conversation: calls can be cancelled, and streams tell their items as they come. */
  #inLive(tool: Tool): Tool {
    if (tool === stopStreaming) return stopStreamingTool((name) => this.#stop(name));
    if (isStreaming(tool)) {
      return {
        ...tool,
        run: (args, { functionCallId }) => {
          void this.#follow(tool, args, functionCallId);
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
    const giveUp = (reason: AppError): void => {
      if (context instanceof ToolCallContext) context.giveUp(reason);
      cancelled.reject(reason);
    };
    this.#running.set(id, { context, giveUp });
    try {
      return await Promise.race([run(), cancelled.promise]);
    } finally {
      this.#running.delete(id);
    }
  }

  /** Tells the items of a stream, one after another. */
  async #follow(tool: Tool & Required<Pick<Tool, 'stream'>>, args: JsonObject, callId: string): Promise<void> {
    using stop = new LinkedAbort(this.#ctx.signal);
    const context = new ToolCallContext({ ...this.#ctx, signal: stop.signal }, callId);
    const overheard = new Overheard();
    context.liveInput = overheard;
    this.#streams.set(callId, { name: tool.name, stop, overheard });
    try {
      for await (const item of stopOnAbort(tool.stream(args, context), stop.signal)) {
        if (!(await this.#tell(tool.name, asResponse(item), context))) return;
      }
    } catch (error) {
      const thrown = this.#ctx.errors?.detail(error);
      if (!stop.signal.aborted) await this.#tell(tool.name, { error: errorText(error) }, context, thrown);
    } finally {
      this.#streams.delete(callId);
      overheard.end();
      context.release();
    }
  }

  #tell(name: string, response: JsonObject, context: ToolCallContext, thrown?: ThrownDetail): Promise<boolean> {
    const content = { role: 'user', parts: [{ text: returned(name, response) }] };
    const event = newEvent(this.#ctx, this.#ctx.agent.name, { content, actions: takenFrom(context) });
    if (thrown) event.customMetadata = { toolErrors: { [context.functionCallId]: { ...thrown } } };
    return this.#mailbox.put({ event, tells: content });
  }

  /** Returns how many streams of the name were stopped. */
  #stop(name: string): number {
    const found = [...this.#streams.values()].filter((stream) => stream.name === name);
    for (const { stop } of found) stop.abort(new AppError('run_cancelled', `"${name}" was stopped`));
    return found.length;
  }
}

/** The tools of a live conversation: with one to stop those that stream, when there are any. */
export function liveToolsOf(agent: string, tools: StepTools): StepTools {
  return [...tools.byName.values()].some(isStreaming) ? withTool(agent, tools, stopStreaming) : tools;
}

const returned = (name: string, response: JsonObject): string =>
  `The function "${name}" returned: ${JSON.stringify(response)}`;

/** What the stream has changed since its last item. */
function takenFrom({ actions }: ToolCallContext): EventActions {
  const taken = newActions();
  for (const kind of ['stateDelta', 'artifactDelta'] as const) {
    Object.assign(taken[kind], actions[kind]);
    for (const key of Object.keys(actions[kind])) delete actions[kind][key];
  }
  return taken;
}
