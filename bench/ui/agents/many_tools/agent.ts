import { functionTool, llmAgent } from 'agent-server';
import { z } from 'zod';

const lookUp = functionTool({
  name: 'look_up',
  description: 'Looks up a page.',
  parameters: z.object({ page: z.number() }),
  run: ({ page }) => ({ found: page }),
});

const calls = Array.from({ length: 2_000 }, (_, page) => ({ name: 'look_up', args: { page } }));

/** Leaves a trace of two thousand spans. */
export const rootAgent = llmAgent({
  name: 'many_tools',
  model: 'scripted',
  tools: [lookUp],
  script: [{ after: 'look_up', text: 'All looked up.' }, { calls }],
});
