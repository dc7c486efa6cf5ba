import { appendInstruction } from '../core/append-instruction.ts';
import type { MaybePromise, Tool } from '../core/runtime.ts';
import { textOf } from '../schemas/content.ts';
import { type Example, examplesText } from './examples.ts';

/** Finds the samples that fit what the user said. */
export type ExampleProvider = (query: string) => MaybePromise<readonly Example[]>;

/** Shows the model samples of good answers, at every model call; it cannot call it. */
export function exampleTool({ examples }: { readonly examples: readonly Example[] | ExampleProvider }): Tool {
  return {
    kind: 'tool',
    name: 'example_tool',
    description: 'Shows samples of good answers.',
    async processRequest(request, ctx) {
      const fitting = typeof examples === 'function' ? await examples(textOf(ctx.userContent)) : examples;
      appendInstruction(request, examplesText(fitting));
    },
  };
}
