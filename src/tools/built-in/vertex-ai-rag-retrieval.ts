import { z } from 'zod';
import { lazily } from '../../base/lazily.ts';
import type { Tool } from '../../core/runtime.ts';
import { lenient } from '../../schemas/lenient.ts';
import { parseOptions } from '../options.ts';
import { addBuiltIn, requireAlone, requireGemini } from './gemini-models.ts';

const schema = lazily(() =>
  lenient({
    name: z.string().default('vertex_ai_rag_retrieval'),
    description: z.string().default('Looks things up in a corpus of documents.'),
    ragCorpora: z.array(z.string()).optional(),
    ragResources: z.array(z.record(z.string(), z.unknown())).optional(),
    similarityTopK: z.number().int().positive().optional(),
    vectorDistanceThreshold: z.number().optional(),
  }).refine(({ ragCorpora, ragResources }) => (ragCorpora ?? ragResources ?? []).length > 0, {
    message: 'needs ragCorpora or ragResources',
  }),
);

/** Corpora as full resource names: `projects/…/ragCorpora/…`. */
export type VertexAiRagRetrievalOptions = z.input<ReturnType<typeof schema>>;

/** Lets a Gemini model on Vertex AI search RAG corpora. Throws ConfigurationException for invalid options. */
export function vertexAiRagRetrieval(options: VertexAiRagRetrievalOptions): Tool {
  const { name, description, ...store } = parseOptions('vertex_ai_rag_retrieval', schema(), options);
  const { ragCorpora, ragResources, similarityTopK, vectorDistanceThreshold } = store;
  const vertexRagStore = {
    ragResources: ragResources ?? ragCorpora?.map((ragCorpus) => ({ ragCorpus })),
    ...(similarityTopK !== undefined && { similarityTopK }),
    ...(vectorDistanceThreshold !== undefined && { vectorDistanceThreshold }),
  };
  return {
    kind: 'tool',
    name,
    description,
    processRequest(request) {
      if (requireGemini(request, name, 1) === 1) requireAlone(request, name);
      addBuiltIn(request, { retrieval: { vertexRagStore } });
    },
  };
}
