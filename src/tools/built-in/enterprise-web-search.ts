import type { Tool } from '../../core/runtime.ts';
import { addBuiltIn, requireAlone, requireGemini } from './gemini-models.ts';

const name = 'enterprise_web_search';

/** Lets a Gemini model on Vertex AI search the web through an index with enterprise compliance controls. */
export const enterpriseWebSearch: Tool = {
  kind: 'tool',
  name,
  description: 'Searches the web within enterprise rules.',
  processRequest(request) {
    if (requireGemini(request, name, 1) === 1) requireAlone(request, name);
    addBuiltIn(request, { enterpriseWebSearch: {} });
  },
};
