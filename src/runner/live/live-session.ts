import { HandoverInput } from '../../agents/live/handover-input.ts';
import { runSubAgentLive } from '../../agents/run-sub-agent.ts';
import { indexTree } from '../../agents/tree.ts';
import { AppError, type ErrorCode } from '../../base/errors.ts';
import { newEvent } from '../../core/events/new-event.ts';
import { firstResult, hasHook } from '../../core/hooks.ts';
import type { LiveInput } from '../../core/model.ts';
import type { MaybePromise, RunContext } from '../../core/runtime.ts';
import type { Content } from '../../schemas/content.ts';
import type { Event } from '../../schemas/event.ts';
import type { OnBusy, RunConfig } from '../../schemas/run.ts';
import type { SessionKey } from '../../schemas/session.ts';
import { agentToRun } from '../agent-to-run.ts';
import { store } from '../store-event.ts';
import { storeUserMessage } from '../user-message.ts';
import { AudioRecorder } from './audio-recorder.ts';
import { ToolEventDelay } from './tool-event-delay.ts';

/** Starts a live run: its session and its settings. */
export interface LiveRunRequest extends SessionKey {
  readonly onBusy?: OnBusy | undefined;
  readonly runConfig?: RunConfig | undefined;
  /** Called for an invalid message, such as a response without a call; the message is skipped, the conversation continues. */
  readonly onRefused?: ((error: Error) => void) | undefined;
}

const refusals: ReadonlySet<ErrorCode> = new Set(['invalid_request', 'FunctionCallNotFound']);

/** Runs writes to the session one after another. */
type OneAtATime = <T>(work: () => Promise<T>) => Promise<T>;

function oneAtATime(): OneAtATime {
  let last: Promise<unknown> | undefined;
  return (work) => {
    const done = last ? last.then(work, work) : work();
    last = done;
    const isOver = (): void => {
      if (last === done) last = undefined;
    };
    done.then(isOver, isOver);
    return done;
  };
}

/** A conversation over a live connection, as the runner stores and yields it. */
export class LiveSession {
  readonly #ctx: RunContext;
  readonly #input: AsyncIterable<LiveInput>;
  readonly #oneAtATime = oneAtATime();
  readonly #audio: AudioRecorder | undefined;
  readonly #onRefused: LiveRunRequest['onRefused'];

  constructor(ctx: RunContext, input: AsyncIterable<LiveInput>, onRefused?: LiveRunRequest['onRefused']) {
    this.#ctx = ctx;
    this.#onRefused = onRefused;
    this.#input = input;
    const { artifacts } = ctx.services;
    this.#audio = ctx.runConfig.saveLiveBlob && artifacts ? new AudioRecorder(ctx, artifacts) : undefined;
  }

  /** The events of the agent, and of the agents it transfers to. */
  async *events(): AsyncGenerator<Event, void, void> {
    const ctx = this.#ctx;
    const early = hasHook(ctx, 'beforeRun') ? await firstResult(ctx, 'beforeRun', { context: ctx }) : undefined;
    if (early) {
      yield newEvent(ctx, 'model', { content: early });
      return;
    }
    const input = HandoverInput.of(this.#clientInput());
    const delay = new ToolEventDelay();
    const agent = agentToRun(indexTree(ctx.app.rootAgent), ctx.session.events);
    const hangUp = (): void => input.close(); // an agent that waits for input does not watch the signal
    ctx.signal.addEventListener('abort', hangUp, { once: true });
    try {
      for await (const event of runSubAgentLive(agent, ctx, input)) {
        this.#audio?.recordOutput(event);
        for (const due of delay.add(event)) yield due;
        if (this.#audio && (event.turnComplete || event.interrupted)) yield* await this.#audio.save(event);
      }
      yield* delay.flush();
      if (this.#audio) yield* await this.#audio.save({ turnComplete: true });
    } finally {
      ctx.signal.removeEventListener('abort', hangUp);
      input.close();
    }
  }

  /** Stores an event, but no chunk, in order with the user's messages. */
  store(event: Event): MaybePromise<Event> {
    const ctx = this.#ctx;
    const isStored = !event.partial && belongsInHistory(event);
    if (!isStored) return ctx.plugins.length === 0 ? event : store(event, ctx, false);
    return this.#oneAtATime(() => store(event, ctx));
  }

  /** The client's input; a message reaches the agent once it is stored. No generator: this runs for every audio frame. */
  #clientInput(): AsyncIterable<LiveInput> {
    const source = this.#input[Symbol.asyncIterator]();
    const onInput = (result: IteratorResult<LiveInput>): MaybePromise<IteratorResult<LiveInput>> => {
      if (result.done) return result;
      const input = result.value;
      if (input.kind === 'blob') this.#audio?.recordInput(input.blob);
      if (input.kind !== 'content') return result;
      return this.#storeMessage(input.content).then((content) =>
        content ? { done: false, value: { kind: 'content', content } } : next(),
      );
    };
    const next = (): Promise<IteratorResult<LiveInput>> => source.next().then(onInput);
    const iterator: AsyncIterator<LiveInput> = {
      next,
      return: async () => (await source.return?.()) ?? { done: true, value: undefined },
    };
    return { [Symbol.asyncIterator]: () => iterator };
  }

  /** `undefined` for a rejected message. */
  async #storeMessage(content: Content): Promise<Content | undefined> {
    try {
      return (await this.#oneAtATime(() => storeUserMessage({ newMessage: content }, this.#ctx))) ?? content;
    } catch (error) {
      if (!this.#onRefused || !(error instanceof AppError && refusals.has(error.code))) throw error;
      this.#onRefused(error);
      return undefined;
    }
  }
}

/** Whether the history keeps an event: no audio or video, and nothing that only matters to the connection. */
function belongsInHistory(event: Event): boolean {
  const parts = event.content?.parts ?? [];
  if (parts.some(({ inlineData }) => inlineData && isMedia(inlineData.mimeType))) return false;
  if (parts.length > 0 || event.errorCode !== undefined || event.interrupted || event.usageMetadata) return true;
  if (event.inputTranscription ?? event.outputTranscription ?? event.groundingMetadata) return true;
  const { stateDelta, artifactDelta, ...rest } = event.actions;
  return Object.keys(stateDelta).length > 0 || Object.keys(artifactDelta).length > 0 || Object.keys(rest).length > 2;
}

const isMedia = (mimeType: string): boolean => /^(?:audio|video)\//i.test(mimeType);
