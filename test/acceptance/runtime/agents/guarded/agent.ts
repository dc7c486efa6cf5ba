import { functionTool, llmAgent } from 'agent-server';
import { z } from 'zod';

/** Counts what was really paid, so that a payment made twice shows. */
const runs = new Map<string, number>();
const Payment = z.object({ amount: z.number() });
const pay = functionTool({
  name: 'pay',
  description: 'Pays.',
  parameters: Payment,
  requireConfirmation: true,
  run({ amount }, { session }) {
    const count = (runs.get(session.id) ?? 0) + 1;
    runs.set(session.id, count);
    return { paid: amount, count };
  },
});
const payMuch = functionTool({
  name: 'pay_much',
  description: 'Pays, and asks when it is much.',
  parameters: Payment,
  requireConfirmation: ({ amount }) => amount > 100,
  run: ({ amount }) => ({ paid: amount }),
});
const book = functionTool({
  name: 'book',
  description: 'Books a room the user chooses.',
  run(_, ctx) {
    const { toolConfirmation } = ctx;
    if (!toolConfirmation) {
      ctx.requestConfirmation({ hint: 'Which room?', payload: { room: '' } });
      return { status: 'asked' };
    }
    return toolConfirmation.confirmed ? { booked: toolConfirmation.payload } : { status: 'not booked' };
  },
});
const look = functionTool({ name: 'look', description: 'Looks.', run: () => ({ seen: true }) });

const helper = llmAgent({ name: 'helper', description: 'Helps.', tools: [pay] });

export const rootAgent = llmAgent({
  name: 'guarded',
  model: 'gemini-2.5-flash',
  tools: [pay, payMuch, book, look],
  subAgents: [helper],
});
