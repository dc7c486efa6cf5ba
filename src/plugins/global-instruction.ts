import type { MaybePromise, Plugin, ReadonlyContext } from '../core/runtime.ts';
import { compileTemplate, fillTemplate } from '../core/templates.ts';

/** Puts a text before every agent's system instruction: a template over the state, or the unchanged result of a function. */
export function globalInstructionPlugin(
  instruction: string | ((ctx: ReadonlyContext) => MaybePromise<string>),
): Plugin {
  const template = typeof instruction === 'string' ? compileTemplate(instruction) : undefined;
  return {
    name: 'global_instruction',
    async beforeModel({ request, context }) {
      const text =
        typeof instruction === 'function'
          ? await instruction(context.run)
          : await fillTemplate(template ?? [], context.run);
      if (text === '') return;
      const { systemInstruction } = request.config;
      request.config.systemInstruction = systemInstruction ? `${text}\n\n${systemInstruction}` : text;
    },
  };
}
