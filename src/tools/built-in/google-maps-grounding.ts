import type { Tool } from '../../core/runtime.ts';
import { addBuiltIn, requireGemini } from './gemini-models.ts';

const name = 'google_maps_grounding';

/** Lets a Gemini model look up places on Google Maps. */
export const googleMapsGrounding: Tool = {
  kind: 'tool',
  name,
  description: 'Looks up places on Google Maps.',
  processRequest(request) {
    requireGemini(request, name, 2);
    addBuiltIn(request, { googleMaps: {} });
  },
};
