import type { Tool } from '../../core/runtime.ts';
import { addBuiltIn, requireGemini } from './gemini-models.ts';

const name = 'url_context';

/** Lets a Gemini model read the pages whose URLs are in the conversation. */
export const urlContext: Tool = {
  kind: 'tool',
  name,
  description: 'Reads the pages that are mentioned by address.',
  processRequest(request) {
    requireGemini(request, name, 2);
    addBuiltIn(request, { urlContext: {} });
  },
};
