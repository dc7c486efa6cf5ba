import type { ModelRequest } from './model.ts';

/** Appends a section to the system instruction of a request. */
export function appendInstruction({ config }: ModelRequest, text: string): void {
  if (text === '') return;
  config.systemInstruction = config.systemInstruction ? `${config.systemInstruction}\n\n${text}` : text;
}
