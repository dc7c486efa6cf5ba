import { newEvent } from '../../core/events/new-event.ts';
import type { LiveInput } from '../../core/model.ts';
import type { RunContext } from '../../core/runtime.ts';
import type { Content } from '../../schemas/content.ts';
import type { Event } from '../../schemas/event.ts';
import type { HandoverInput } from './handover-input.ts';
import { wasHandedOver, isTaskCompleted } from './task-completed.ts';

/** The client sent media, which need a connection to the model. The input was put back. */
export const needsConnection = Symbol('takes media');

interface TurnOptions {
  /** Runs one turn for the message of the context. */
  readonly runTurn: (ctx: RunContext) => AsyncIterable<Event>;
  /** Whether the model takes live media over a connection. */
  readonly canConnect: boolean;
  /** What follows the turns: the agent of this name after a transfer, or a connection. */
  readonly continueWith: (outcome: string | typeof needsConnection) => AsyncIterable<Event>;
}

/**
 * Serves a live client turn by turn: the agent answers each message, streamed, before the next one is read. Media need
 * a connection to the model; when the model has none, one error event refuses them.
 */
export function serveTurnByTurn(
  options: TurnOptions,
  ctx: RunContext,
  input: HandoverInput,
): AsyncIterableIterator<Event, void, void> {
  return new TurnByTurnServer(options, ctx, input);
}

type Step = IteratorResult<Event, void>;

const over: Step = Object.freeze({ done: true, value: undefined });

/** Written by hand because a generator would cost every event two more promises. Pull it one at a time. */
class TurnByTurnServer implements AsyncIterableIterator<Event, void, void> {
  readonly #options: TurnOptions;
  readonly #ctx: RunContext;
  readonly #input: HandoverInput;
  /** The events of the current turn, or of what follows the turns; and the turn's context. */
  #source: AsyncIterator<Event> | undefined;
  #turn: RunContext | undefined;
  #hasStarted = false;
  #hasRefused = false;
  #isOver = false;

  constructor(options: TurnOptions, ctx: RunContext, input: HandoverInput) {
    this.#options = options;
    this.#ctx = ctx;
    this.#input = input;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<Step> {
    return this.#source ? this.#source.next().then(this.#onResult, this.#onError) : this.#listen();
  }

  async return(): Promise<Step> {
    const source = this.#source;
    this.#end();
    await source?.return?.();
    return over;
  }

  readonly #onResult = (result: IteratorResult<Event>): Step | Promise<Step> => {
    const turn = this.#turn;
    if (result.done) {
      this.#source = undefined;
      if (!turn || turn.control.ended) this.#end();
      return turn ? shown(newEvent(this.#ctx, this.#ctx.agent.name, { turnComplete: true })) : over;
    }
    const event = result.value;
    if (!turn) return result;
    const target = event.actions.transferToAgent;
    return target !== undefined || isTaskCompleted(event) ? this.#leaveTurn(event, target) : result;
  };

  readonly #onError = (error: unknown): never => {
    this.#end();
    throw error;
  };

  /** Ends the turns with an event; continues with the target of a transfer. */
  async #leaveTurn(event: Event, target: string | undefined): Promise<Step> {
    await this.#source?.return?.();
    if (target === undefined) this.#end();
    else this.#continueWith(target);
    return shown(event);
  }

  /** Reads input until a message arrives. */
  async #listen(): Promise<Step> {
    if (!this.#hasStarted) {
      this.#hasStarted = true;
      if (wasHandedOver(this.#ctx)) return this.#answer(undefined);
    }
    while (!this.#isOver) {
      const next = await this.#input.next();
      if (!next) break;
      if (next.kind === 'content') return this.#answer(next.content);
      if (this.#options.canConnect) {
        this.#input.putBack(next);
        this.#continueWith(needsConnection);
        return this.next();
      }
      if (next.kind === 'blob' && !this.#hasRefused) {
        this.#hasRefused = true;
        return shown(refusal(next, this.#ctx));
      }
    }
    this.#end();
    return over;
  }

  #answer(message: Content | undefined): Promise<Step> {
    this.#turn = turnContext(this.#ctx, message);
    this.#source = this.#options.runTurn(this.#turn)[Symbol.asyncIterator]();
    return this.next();
  }

  #continueWith(outcome: string | typeof needsConnection): void {
    this.#turn = undefined;
    this.#source = this.#options.continueWith(outcome)[Symbol.asyncIterator]();
  }

  #end(): void {
    this.#isOver = true;
    this.#source = undefined;
  }
}

const shown = (value: Event): Step => ({ done: false, value });

/** The context of one turn, with its own limits, because a live run has many turns. */
function turnContext(ctx: RunContext, userContent: Content | undefined): RunContext {
  return {
    ...ctx,
    runConfig: { ...ctx.runConfig, streamingMode: 'sse' },
    calls: { count: 0 },
    control: { ended: false },
    ...(userContent && { userContent }),
  };
}

const refusal = ({ blob }: Extract<LiveInput, { kind: 'blob' }>, ctx: RunContext): Event =>
  newEvent(ctx, ctx.agent.name, {
    errorCode: 'not_supported',
    errorMessage: `The model of "${ctx.agent.name}" takes no live media (${blob.mimeType}): send text`,
  });
