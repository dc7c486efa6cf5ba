import { setTimeout as pause } from 'node:timers/promises';
import { functionTool, llmAgent } from 'agent-server';
import { z } from 'zod';

/** Adds one in each scope of the state, slowly: two runs at once would lose one. */
const add = functionTool({
  name: 'add',
  description: 'Adds one.',
  parameters: z.object({}),
  async run(_args, { state }) {
    const names = ['count', 'user:count', 'app:count'];
    const counts = names.map((name) => state.get<number>(name, 0));
    await pause(10);
    for (const [index, name] of names.entries()) state.set(name, (counts[index] ?? 0) + 1);
    return { counts };
  },
});

export const rootAgent = llmAgent({
  name: 'adder',
  model: 'scripted',
  tools: [add],
  script: [{ after: 'add', text: 'Added.' }, { calls: [{ name: 'add', args: {} }] }],
});
