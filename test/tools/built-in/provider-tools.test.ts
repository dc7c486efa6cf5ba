import { expect, it } from 'vitest';
import type { ModelRequest } from '../../../src/core/model.ts';
import type { Tool } from '../../../src/core/runtime.ts';
import { builtInTools } from '../../../src/tools/built-in/built-ins.ts';
import { geminiMajor } from '../../../src/tools/built-in/gemini-models.ts';
import { modelRequest, toolContext } from '../contexts.ts';

const shape = async (name: string, request: ModelRequest, args?: Record<string, unknown>): Promise<unknown> => {
  const tool = builtInTools.get(name)?.(args) as Tool;
  await tool.processRequest?.(request, toolContext());
  return request.config.tools;
};

it('reads the major version of a Gemini model from any spelling of its name', () => {
  expect(geminiMajor('gemini-2.5-flash')).toBe(2);
  expect(geminiMajor('models/gemini-3-pro-preview')).toBe(3);
  expect(geminiMajor('projects/p/locations/l/publishers/google/models/gemini-1.5-pro')).toBe(1);
  expect(geminiMajor('gemini-flash-latest')).toBe(Infinity);
  expect(geminiMajor('projects/p/locations/l/endpoints/123')).toBe(Infinity);
  expect(geminiMajor('scripted')).toBe(Infinity);
  expect(geminiMajor('claude-sonnet-4')).toBeUndefined();
  expect(geminiMajor('my-gemini-2')).toBeUndefined();
});

it.each([
  ['google_search', { googleSearch: {} }],
  ['url_context', { urlContext: {} }],
  ['enterprise_web_search', { enterpriseWebSearch: {} }],
  ['google_maps_grounding', { googleMaps: {} }],
  ['built_in_code_execution', { codeExecution: {} }],
])('turns on %s beside the tools that are there, and declares no function', async (name, entry) => {
  const functions = { functionDeclarations: [{ name: 'x', description: 'x' }] };

  expect(await shape(name, modelRequest({ config: { tools: [functions] } }))).toEqual([functions, entry]);
  expect(builtInTools.get(name)?.()).not.toHaveProperty('declaration');
});

it.each(['google_search', 'url_context', 'enterprise_web_search', 'google_maps_grounding', 'built_in_code_execution'])(
  'refuses %s on a model of another family',
  async (name) => {
    const shaping = shape(name, modelRequest({ model: 'gpt-5' }));
    await expect(shaping).rejects.toMatchObject({
      code: 'ConfigurationException',
      message: expect.stringMatching(/"gpt-5"/) as string,
    });
  },
);

it.each(['url_context', 'google_maps_grounding', 'built_in_code_execution'])('refuses %s on Gemini 1', async (name) => {
  const shaping = shape(name, modelRequest({ model: 'gemini-1.5-pro' }));
  await expect(shaping).rejects.toMatchObject({ code: 'ConfigurationException' });
});

it('gives Gemini 1 its own search, as the only tool', async () => {
  const model = 'gemini-1.5-pro';

  expect(await shape('google_search', modelRequest({ model }))).toEqual([{ googleSearchRetrieval: {} }]);
  const crowded = modelRequest({ model, config: { tools: [{ functionDeclarations: [] }] } });
  await expect(shape('google_search', crowded)).rejects.toMatchObject({ code: 'ConfigurationException' });
});

it('searches a data store or an engine of Vertex AI Search, options in either spelling', async () => {
  expect(await shape('vertex_ai_search', modelRequest(), { data_store_id: 'projects/p/d', max_results: 3 })).toEqual([
    { retrieval: { vertexAiSearch: { datastore: 'projects/p/d', maxResults: 3 } } },
  ]);
  const engine = { searchEngineId: 'projects/p/e', dataStoreSpecs: [{ dataStore: 'd' }], filter: 'a: b' };
  expect(await shape('VertexAiSearchTool', modelRequest(), engine)).toEqual([
    { retrieval: { vertexAiSearch: { engine: 'projects/p/e', dataStoreSpecs: [{ dataStore: 'd' }], filter: 'a: b' } } },
  ]);
});

it.each([{}, { dataStoreId: 'a', searchEngineId: 'b' }, { dataStoreId: 'a', dataStoreSpecs: [] }, { dataStoreId: 1 }])(
  'refuses %j for Vertex AI Search',
  (args) => {
    expect(() => builtInTools.get('vertex_ai_search')?.(args)).toThrow(/vertex_ai_search/);
  },
);

it('refuses args for tools that take none', () => {
  expect(() => builtInTools.get('google_search')?.({ depth: 2 })).toThrow(/takes no args/);
});

it('looks things up in RAG corpora', async () => {
  const args = { rag_corpora: ['projects/p/ragCorpora/1'], similarity_top_k: 3, vector_distance_threshold: 0.5 };

  expect(await shape('VertexAiRagRetrieval', modelRequest(), args)).toEqual([
    {
      retrieval: {
        vertexRagStore: {
          ragResources: [{ ragCorpus: 'projects/p/ragCorpora/1' }],
          similarityTopK: 3,
          vectorDistanceThreshold: 0.5,
        },
      },
    },
  ]);
  expect(() => builtInTools.get('vertex_ai_rag_retrieval')?.({ name: 'x' })).toThrow(/needs ragCorpora/);
});
