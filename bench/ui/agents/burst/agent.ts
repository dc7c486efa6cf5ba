import { type Agent, newEvent } from 'agent-server';

/** Answers "burst 300" with so many events, as fast as they are taken: half of them calls, half their results. */
export const rootAgent: Agent = {
  name: 'burst',
  description: 'Emits many events.',
  async *run(ctx) {
    const text = ctx.session.events.at(-1)?.content?.parts[0]?.text ?? '';
    const count = Number(/\d+/.exec(text)?.[0] ?? 10);
    for (let index = 0; index < count / 2; index += 1) {
      const id = `call-${index}`;
      yield newEvent(ctx, 'burst', {
        content: { role: 'model', parts: [{ functionCall: { id, name: 'look_up', args: { page: index } } }] },
      });
      yield newEvent(ctx, 'burst', {
        content: { role: 'user', parts: [{ functionResponse: { id, name: 'look_up', response: { found: index } } }] },
      });
    }
  },
};
