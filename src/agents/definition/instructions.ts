import type { RunContext } from '../../core/runtime.ts';
import { compileTemplate, fillTemplate } from '../../core/templates.ts';
import type { Instruction } from './llm-spec.ts';

/** Makes the text of an instruction for one request. Synchronous when there is nothing to wait for. */
export type InstructionText = (ctx: RunContext) => string | Promise<string>;

/** Prepares an instruction once: texts are templates; the result of a function is used verbatim. */
export function instructionText(instruction: Instruction | undefined): InstructionText | undefined {
  if (instruction === undefined || instruction === '') return undefined;
  if (typeof instruction === 'function') return async (ctx) => (await instruction(ctx)) ?? '';
  const template = compileTemplate(instruction);
  const [only = ''] = template;
  if (template.length <= 1 && typeof only === 'string') return () => only;
  return (ctx) => fillTemplate(template, ctx);
}

/** The model's name and description, which it needs when it can transfer to other agents. */
export function identityText(name: string, description: string): string {
  const identity = `You are an agent in a team of agents. Your name inside the team is "${name}".`;
  return description === '' ? identity : `${identity} You are described to the others as: "${description}"`;
}

/** Sections of a system instruction, blank line between them, empty ones left out. */
export const joinSections = (sections: readonly string[]): string =>
  sections.filter((section) => section !== '').join('\n\n');
