import { z } from 'zod';
import { appendInstruction } from '../core/append-instruction.ts';
import type { MaybePromise, Tool } from '../core/runtime.ts';
import { Content, textOf } from '../schemas/content.ts';
import { type Example, examplesText } from './examples.ts';
import { parseOptions } from './options.ts';

const name = 'example_tool';

/** Finds the samples that fit what the user said. */
export type ExampleProvider = (query: string) => MaybePromise<readonly Example[]>;

const sides = z.union([z.string(), Content]);
const Options = z.strictObject({
  examples: z.array(
    z.strictObject({
      input: sides,
      output: z.union([z.string(), z.array(Content), Content.transform((one) => [one])]),
    }),
  ),
});

/** Shows the model samples of good answers, at every model call; it cannot call it. */
export function exampleTool({ examples }: { readonly examples: readonly Example[] | ExampleProvider }): Tool {
  return {
    kind: 'tool',
    name,
    description: 'Shows samples of good answers.',
    async processRequest(request, ctx) {
      const fitting = typeof examples === 'function' ? await examples(textOf(ctx.userContent)) : examples;
      appendInstruction(request, examplesText(fitting));
    },
  };
}

/** The same from an `args` of a configuration file. Throws ConfigurationException. */
export const exampleToolFrom = (args: unknown): Tool => exampleTool(parseOptions(name, Options, args));
