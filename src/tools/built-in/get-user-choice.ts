import { z } from 'zod';
import type { Tool } from '../../core/runtime.ts';
import { functionTool } from '../function-tool.ts';

/** Shows the user options to choose from. The application answers the call later with the choice. */
export const getUserChoice: Tool = functionTool({
  name: 'get_user_choice',
  description: 'Shows options to the user and waits for the choice.',
  parameters: z.object({ options: z.array(z.string()).min(1).describe('What the user may choose') }),
  isLongRunning: true,
  run: (_args, ctx) => {
    ctx.actions.skipSummarization = true;
  },
});
