import { setTimeout as pause } from 'node:timers/promises';
import { type Agent, newEvent } from 'agent-server';

/**
 * `5 x 20`: says five numbers, 20 milliseconds apart, each digit as a piece of its own first. Goes on where it was when
 * its server is lost.
 */
export const rootAgent: Agent = {
  name: 'steps',
  async *run(ctx) {
    const own = ctx.session.events.filter((event) => event.invocationId === ctx.invocationId);
    const asked = own.find(({ author }) => author === 'user')?.content?.parts[0]?.text ?? '';
    const [, count = '1', ms = '0'] = /(\d+) x (\d+)/.exec(asked) ?? [];
    const done = own.filter(({ author }) => author === 'steps').length;
    for (let step = done + 1; step <= Number(count); step += 1) {
      const word = `${step}`.padStart(3, '0');
      for (const text of word) {
        await pause(Number(ms) / word.length, undefined, { signal: ctx.signal });
        yield newEvent(ctx, 'steps', { partial: true, content: { role: 'model', parts: [{ text }] } });
      }
      yield newEvent(ctx, 'steps', { content: { role: 'model', parts: [{ text: word }] } });
    }
  },
};
