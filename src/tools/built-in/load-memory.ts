import { z } from 'zod';
import { appendInstruction } from '../../core/model.ts';
import type { Tool } from '../../core/runtime.ts';
import { functionTool } from '../function-tool.ts';

const name = 'load_memory';

/** Lets the model search earlier conversations with the user. */
export const loadMemory: Tool = {
  ...functionTool({
    name,
    description: 'Finds messages of earlier conversations with the user.',
    parameters: z.object({ query: z.string().describe('Words that the messages hold') }),
    run: async ({ query }, ctx) => ({ memories: await ctx.searchMemory(query) }),
  }),
  processRequest(request) {
    appendInstruction(
      request,
      `Earlier conversations with the user are remembered. When an answer may depend on them, call ${name} with a query first, and say so if nothing fitting is found.`,
    );
  },
};
