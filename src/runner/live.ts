import { enterLive } from '../agents/enter.ts';
import { SharedInput } from '../agents/live/shared-input.ts';
import { indexTree } from '../agents/tree.ts';
import type { LiveInput } from '../core/model.ts';
import { newEvent } from '../core/new-event.ts';
import type { RunContext } from '../core/runtime.ts';
import type { Event } from '../schemas/event.ts';
import type { OnBusy, RunConfig } from '../schemas/run.ts';
import type { SessionKey } from '../schemas/session.ts';
import { LiveAudio } from './live-audio.ts';
import { SpokenOrder } from './live-order.ts';
import { firstAnswer } from './plugins.ts';
import { agentToRun } from './resume.ts';
import { store } from './store-event.ts';
import { storeUserMessage } from './user-message.ts';

/** What starts a live run: whose session, and how to talk. */
export interface LiveRunRequest extends SessionKey {
  readonly onBusy?: OnBusy | undefined;
  readonly runConfig?: RunConfig | undefined;
}

/** Does one thing after another, so that two writers of a session do not get into each other's way. */
type InTurn = <T>(work: () => Promise<T>) => Promise<T>;

function inTurn(): InTurn {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const done = last.then(work, work);
    last = done.then(
      () => {},
      () => {},
    );
    return done;
  };
}

/** A conversation over a live connection, as the runner stores and yields it. */
export class LiveTalk {
  readonly #ctx: RunContext;
  readonly #input: AsyncIterable<LiveInput>;
  readonly #inTurn = inTurn();
  readonly #audio: LiveAudio | undefined;

  constructor(ctx: RunContext, input: AsyncIterable<LiveInput>) {
    this.#ctx = ctx;
    this.#input = input;
    const { artifacts } = ctx.services;
    this.#audio = ctx.runConfig.saveLiveBlob && artifacts ? new LiveAudio(ctx, artifacts) : undefined;
  }

  /** What the agents say, and the agents they hand over to. */
  async *events(): AsyncGenerator<Event, void, void> {
    const ctx = this.#ctx;
    const early = await firstAnswer(ctx, 'beforeRun', (plugin) => plugin.beforeRun?.(ctx));
    if (early) {
      yield newEvent(ctx, 'model', { content: early });
      return;
    }
    const input = SharedInput.of(this.#heard());
    const order = new SpokenOrder();
    const agent = agentToRun(indexTree(ctx.app.rootAgent), ctx.session.events);
    const hangUp = (): void => input.close(); // an agent that waits for the client hears of nothing else
    ctx.signal.addEventListener('abort', hangUp, { once: true });
    try {
      for await (const event of enterLive(agent, ctx, input)) {
        this.#audio?.spoken(event);
        yield* order.after(event);
        if (this.#audio && (event.turnComplete || event.interrupted)) yield* await this.#audio.saved(event);
      }
      yield* order.rest();
      if (this.#audio) yield* await this.#audio.saved({ turnComplete: true });
    } finally {
      ctx.signal.removeEventListener('abort', hangUp);
      input.close();
    }
  }

  /** Stores a whole event; messages of the user wait for it, and it for them. */
  keep(event: Event): Promise<Event> {
    return event.partial ? store(event, this.#ctx) : this.#inTurn(() => store(event, this.#ctx, isKept(event)));
  }

  /** The client's input; a message reaches the agent once it is stored. */
  async *#heard(): AsyncGenerator<LiveInput, void, void> {
    const ctx = this.#ctx;
    for await (const input of this.#input) {
      if (input.kind === 'blob') this.#audio?.heard(input.blob);
      if (input.kind !== 'content') {
        yield input;
        continue;
      }
      const { content } = input;
      const stored = await this.#inTurn(() => storeUserMessage({ newMessage: content }, ctx));
      yield { kind: 'content', content: stored ?? content };
    }
  }
}

/** Whether an event belongs into the history: not what is sound, nor what only matters to the connection. */
function isKept(event: Event): boolean {
  const parts = event.content?.parts ?? [];
  if (parts.some(({ inlineData }) => inlineData && isMedia(inlineData.mimeType))) return false;
  if (parts.length > 0 || event.errorCode !== undefined || event.interrupted || event.usageMetadata) return true;
  if (event.inputTranscription ?? event.outputTranscription ?? event.groundingMetadata) return true;
  const { stateDelta, artifactDelta, ...rest } = event.actions;
  return Object.keys(stateDelta).length > 0 || Object.keys(artifactDelta).length > 0 || Object.keys(rest).length > 2;
}

const isMedia = (mimeType: string): boolean => /^(?:audio|video)\//i.test(mimeType);
