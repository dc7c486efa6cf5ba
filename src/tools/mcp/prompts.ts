import { z } from 'zod';
import type { Tool } from '../../core/runtime.ts';
import { functionTool } from '../function-tool.ts';
import { AwaitingUser } from './access.ts';
import { type CallEnvironment, callServer } from './call.ts';
import { readableBlocks } from './result.ts';

/** A prompt as servers list it; it may have more members. */
export const McpPrompt = z.looseObject({
  name: z.string(),
  title: z.string().optional(),
  description: z.string().optional(),
  arguments: z
    .array(z.looseObject({ name: z.string(), description: z.string().optional(), required: z.boolean().optional() }))
    .optional(),
});
export type McpPrompt = z.infer<typeof McpPrompt>;

const maxListed = 100;
const maxLineLength = 300;

/** The tool with which the model loads prompts. Its description lists them. */
export function promptTool(name: string, prompts: readonly McpPrompt[], setting: CallEnvironment): Tool {
  const listed = prompts.slice(0, maxListed).map(describe).join('\n');
  return functionTool({
    name,
    description: `Fetches a prompt that the MCP server "${setting.options.name}" has ready: follow it where it suits the user. There are:\n${listed}`,
    parameters: z.object({
      name: z.string().describe('Name of the prompt'),
      arguments: z.record(z.string(), z.string()).optional().describe('What the prompt is about, by argument name'),
    }),
    run: async ({ name: prompt, arguments: args = {} }, ctx) => {
      const result = await callServer(setting, ctx, (session, limit) => session.getPrompt(prompt, args, limit));
      if (result instanceof AwaitingUser) return result.response;
      const { description, messages } = result;
      const content = await readableBlocks(
        messages.map((message) => message.content),
        name,
        ctx,
      );
      return {
        ...(description !== undefined && { description }),
        messages: messages.map(({ role }, index) => ({ role, content: content[index] })),
      };
    },
  });
}

function describe({ name, description, arguments: args = [] }: McpPrompt): string {
  const named = args.map((arg) => `${arg.name}${arg.required === true ? '' : '?'}`).join(', ');
  return `- ${JSON.stringify(name)}(${named}) ${description ?? ''}`.trim().slice(0, maxLineLength);
}
