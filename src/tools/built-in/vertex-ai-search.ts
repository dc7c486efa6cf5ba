import { z } from 'zod';
import { lazily } from '../../base/lazily.ts';
import type { Tool } from '../../core/runtime.ts';
import { lenient } from '../../schemas/lenient.ts';
import { parseOptions } from '../options.ts';
import { addBuiltIn, requireAlone, requireGemini } from './gemini-models.ts';

const name = 'vertex_ai_search';

const schema = lazily(() =>
  lenient({
    dataStoreId: z.string().min(1).optional(),
    searchEngineId: z.string().min(1).optional(),
    dataStoreSpecs: z.array(z.record(z.string(), z.unknown())).optional(),
    filter: z.string().optional(),
    maxResults: z.number().int().positive().optional(),
  })
    .refine(({ dataStoreId, searchEngineId }) => (dataStoreId === undefined) !== (searchEngineId === undefined), {
      message: 'needs exactly one of dataStoreId and searchEngineId',
    })
    .refine(({ dataStoreSpecs, searchEngineId }) => dataStoreSpecs === undefined || searchEngineId !== undefined, {
      message: 'takes dataStoreSpecs only with a searchEngineId',
    }),
);

/** Full resource names: `projects/…/dataStores/…` or `projects/…/engines/…`, one of the two. */
export type VertexAiSearchOptions = z.input<ReturnType<typeof schema>>;

/** Lets a Gemini model on Vertex AI search a data store. Throws ConfigurationException for invalid options. */
export function vertexAiSearch(options: VertexAiSearchOptions): Tool {
  const { dataStoreId, searchEngineId, dataStoreSpecs, filter, maxResults } = parseOptions(name, schema(), options);
  const source = {
    ...(dataStoreId !== undefined && { datastore: dataStoreId }),
    ...(searchEngineId !== undefined && { engine: searchEngineId }),
    ...(dataStoreSpecs && { dataStoreSpecs }),
    ...(filter !== undefined && { filter }),
    ...(maxResults !== undefined && { maxResults }),
  };
  return {
    kind: 'tool',
    name,
    description: 'Searches a data store in Vertex AI Search.',
    processRequest(request) {
      if (requireGemini(request, name, 1) === 1) requireAlone(request, name);
      addBuiltIn(request, { retrieval: { vertexAiSearch: source } });
    },
  };
}
