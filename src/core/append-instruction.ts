import type { ModelRequest } from './model.ts';

/** Adds a section to the system instruction of a request, after those that are there. */
export function appendInstruction({ config }: ModelRequest, text: string): void {
  if (text === '') return;
  config.systemInstruction = config.systemInstruction ? `${config.systemInstruction}\n\n${text}` : text;
}
