import { appendInstruction } from '../../core/model.ts';
import type { MaybePromise, Tool } from '../../core/runtime.ts';
import { textOf } from '../../schemas/content.ts';
import { type Example, examplesText } from './examples.ts';

/** Finds examples for a user's message. */
export type ExampleProvider = (query: string) => MaybePromise<readonly Example[]>;

/** Adds examples of good answers to every model request. The model cannot call this tool. */
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
