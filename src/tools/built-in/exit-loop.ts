import type { Tool } from '../../core/runtime.ts';
import { functionTool } from '../function-tool.ts';

/** Lets a model end the loop that its agent runs in. */
export const exitLoop: Tool = functionTool({
  name: 'exit_loop',
  description: 'Ends the loop. Call it only when you are told to, or when nothing is left to improve.',
  run: (_args, ctx) => {
    ctx.actions.escalate = true;
    ctx.actions.skipSummarization = true;
  },
});
