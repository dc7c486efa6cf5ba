import { setTimeout as pause } from 'node:timers/promises';
import { type Agent, newEvent } from 'agent-server';

/** Adds one to `count` in the state, slowly: two of them at once would lose one. */
export const rootAgent: Agent = {
  name: 'counter',
  async *run(ctx) {
    const count = Number(ctx.session.state['count'] ?? 0);
    await pause(5, undefined, { signal: ctx.signal });
    const event = newEvent(ctx, 'counter', { content: { role: 'model', parts: [{ text: `${count + 1}` }] } });
    yield { ...event, actions: { ...event.actions, stateDelta: { count: count + 1 } } };
  },
};
