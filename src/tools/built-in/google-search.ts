import type { Tool } from '../../core/runtime.ts';
import { addBuiltIn, requireAlone, requireGemini } from './gemini-models.ts';

const name = 'google_search';

/** Lets a Gemini model search the web itself. Gemini 1 accepts it only without other tools. */
export const googleSearch: Tool = {
  kind: 'tool',
  name,
  description: 'Searches the web with Google.',
  processRequest(request) {
    const major = requireGemini(request, name, 1);
    if (major === 1) requireAlone(request, name);
    addBuiltIn(request, major === 1 ? { googleSearchRetrieval: {} } : { googleSearch: {} });
  },
};
