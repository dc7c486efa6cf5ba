import type { LiveInput } from '../../core/model.ts';
import { newEvent } from '../../core/new-event.ts';
import type { RunContext } from '../../core/runtime.ts';
import type { Content } from '../../schemas/content.ts';
import type { Event } from '../../schemas/event.ts';
import type { SharedInput } from './shared-input.ts';
import { isCalledUpon, isTaskCompleted } from './task-completed.ts';

/** The client sends what only a connection to the model can take; it is to be read again. */
export const takesMedia = Symbol('takes media');

interface TurnOptions {
  /** Answers one message. */
  readonly turn: (ctx: RunContext) => AsyncIterable<Event>;
  /** Whether the model can listen and look, over a connection. */
  readonly canConnect: boolean;
}

/**
 * Serves a live client with an agent that only knows turns: each message gets an answer, fragments of it as they come,
 * before the next is read. Media are refused once, in an event, unless there is a connection to be had that takes them.
 * Returns the name of the agent that was handed over to, or `takesMedia`, if that is how it ended.
 */
export async function* serveTurns(
  { turn, canConnect }: TurnOptions,
  ctx: RunContext,
  input: SharedInput,
): AsyncGenerator<Event, string | typeof takesMedia | undefined, void> {
  let refused = false;
  let message: Content | undefined;
  let isDue = isCalledUpon(ctx);
  for (;;) {
    if (isDue) {
      const turnCtx = turnContext(ctx, message);
      for await (const event of turn(turnCtx)) {
        yield event;
        const target = event.actions.transferToAgent;
        if (target !== undefined) return target;
        if (isTaskCompleted(event)) return undefined;
      }
      yield newEvent(ctx, ctx.agent.name, { turnComplete: true });
      if (turnCtx.control.ended) return undefined;
    }
    const next = await input.next();
    if (!next) return undefined;
    isDue = next.kind === 'content';
    if (next.kind === 'content') message = next.content;
    else if (canConnect) {
      input.putBack(next);
      return takesMedia;
    } else if (next.kind === 'blob' && !refused) {
      refused = true;
      yield refusal(next, ctx);
    }
  }
}

/** Each turn has the limits of a run of its own. */
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
