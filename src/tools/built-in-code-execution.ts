import type { Tool } from '../core/runtime.ts';
import { addBuiltIn, requireGemini } from './gemini-models.ts';

const name = 'built_in_code_execution';

/** Lets a Gemini model run the Python it writes, at Google. */
export const builtInCodeExecution: Tool = {
  kind: 'tool',
  name,
  description: 'Runs Python at the provider.',
  processRequest(request) {
    requireGemini(request, name, 2);
    addBuiltIn(request, { codeExecution: {} });
  },
};
