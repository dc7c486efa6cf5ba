import { functionTool, llmAgent } from 'agent-server';
import { z } from 'zod';

export const critic = llmAgent({
  name: 'critic',
  model: 'gemini-2.5-flash',
  description: 'Judges poems.',
  tools: [
    functionTool({
      name: 'give_stars',
      description: 'Notes a number of stars.',
      parameters: z.object({ stars: z.int() }),
      run: ({ stars }, { state }) => {
        state.set('stars', stars);
        return { noted: true };
      },
    }),
  ],
});
