import { appendInstruction } from '../../core/model.ts';
import type { CallbackContext, Tool } from '../../core/runtime.ts';
import { textOf } from '../../schemas/content.ts';
import type { MemoryEntry } from '../../schemas/records.ts';

const name = 'preload_memory';

/**
 * Searches memory with the user's message and adds the results to every model request. The model cannot call this tool.
 * When the search fails, the conversation continues without memory.
 */
export const preloadMemory: Tool = {
  kind: 'tool',
  name,
  description: 'Recalls fitting messages of earlier conversations.',
  async processRequest(request, ctx) {
    appendInstruction(request, await recalled(ctx));
  },
};

/** Searches once per invocation, so that its model calls share one instruction. */
async function recalled(ctx: CallbackContext): Promise<string> {
  const known = ctx.data.get(name);
  if (typeof known === 'string') return known;
  const query = ctx.userContent?.parts.find(({ text }) => text !== undefined)?.text ?? '';
  const entries = query === '' ? [] : await search(ctx, query);
  const lines = entries.flatMap(lineOf);
  const text =
    lines.length === 0
      ? ''
      : `Parts of earlier conversations with the user that may matter now:\n<earlier_conversations>\n${lines.join('\n')}\n</earlier_conversations>`;
  ctx.data.set(name, text);
  return text;
}

async function search(ctx: CallbackContext, query: string): Promise<MemoryEntry[]> {
  try {
    return await ctx.searchMemory(query);
  } catch (error) {
    ctx.run.log?.warn({ err: error, invocationId: ctx.invocationId }, 'memory could not be searched');
    return [];
  }
}

function lineOf({ author, content, timestamp }: MemoryEntry): string[] {
  const text = textOf(content, ' ');
  if (text === '') return [];
  return [`${timestamp === undefined ? '' : `[${timestamp}] `}${author ?? 'unknown'}: ${text}`];
}
