import { z } from 'zod';
import { AppError } from '../../base/errors.ts';
import type { JsonObject } from '../../base/json.ts';
import type { Tool, Toolset } from '../../core/runtime.ts';
import { Content } from '../../schemas/content-schema.ts';
import type { AccessLimits } from '../access-limits.ts';
import { openApiToolsetFrom } from '../openapi/toolset.ts';
import { parseOptions } from '../options.ts';
import { builtInCodeExecution } from './built-in-code-execution.ts';
import { enterpriseWebSearch } from './enterprise-web-search.ts';
import { exampleTool } from './example-tool.ts';
import { exitLoop } from './exit-loop.ts';
import { getUserChoice } from './get-user-choice.ts';
import { googleMapsGrounding } from './google-maps-grounding.ts';
import { googleSearch } from './google-search.ts';
import { loadArtifacts } from './load-artifacts.ts';
import { loadMemory } from './load-memory.ts';
import { loadWebPage } from './load-web-page.ts';
import { preloadMemory } from './preload-memory.ts';
import { requestInput } from './request-input.ts';
import { urlContext } from './url-context.ts';
import { vertexAiRagRetrieval } from './vertex-ai-rag-retrieval.ts';
import { vertexAiSearch } from './vertex-ai-search.ts';

/** Makes a tool from the `args` of a configuration file. Throws ConfigurationException when they do not fit. */
export type ToolFactory = (args?: JsonObject, limits?: AccessLimits) => Tool | Toolset;

const ready =
  (tool: Tool): ToolFactory =>
  (args = {}) => {
    if (Object.keys(args).length === 0) return tool;
    throw new AppError('ConfigurationException', `Tool "${tool.name}" takes no args`);
  };

const vertexAiSearchFrom: ToolFactory = (args = {}) => vertexAiSearch(args);
const vertexAiRagRetrievalFrom: ToolFactory = (args = {}) => vertexAiRagRetrieval(args);

const sides = z.union([z.string(), Content]);
const ExampleOptions = z.strictObject({
  examples: z.array(
    z.strictObject({
      input: sides,
      output: z.union([z.string(), z.array(Content), Content.transform((one) => [one])]),
    }),
  ),
});
const exampleToolFrom: ToolFactory = (args) => exampleTool(parseOptions('example_tool', ExampleOptions, args));

/** The tools that a configuration file may name, by their names in ADK. */
export const builtInTools: ReadonlyMap<string, ToolFactory> = new Map<string, ToolFactory>([
  ['google_search', ready(googleSearch)],
  ['url_context', ready(urlContext)],
  ['enterprise_web_search', ready(enterpriseWebSearch)],
  ['EnterpriseWebSearchTool', ready(enterpriseWebSearch)],
  ['google_maps_grounding', ready(googleMapsGrounding)],
  ['built_in_code_execution', ready(builtInCodeExecution)],
  ['code_execution', ready(builtInCodeExecution)],
  ['vertex_ai_search', vertexAiSearchFrom],
  ['VertexAiSearchTool', vertexAiSearchFrom],
  ['vertex_ai_rag_retrieval', vertexAiRagRetrievalFrom],
  ['VertexAiRagRetrieval', vertexAiRagRetrievalFrom],
  ['load_memory', ready(loadMemory)],
  ['preload_memory', ready(preloadMemory)],
  ['load_artifacts', ready(loadArtifacts)],
  ['exit_loop', ready(exitLoop)],
  ['get_user_choice', ready(getUserChoice)],
  ['adk_request_input', ready(requestInput)],
  ['request_input', ready(requestInput)],
  ['example_tool', exampleToolFrom],
  ['ExampleTool', exampleToolFrom],
  ['load_web_page', ready(loadWebPage())],
  ['OpenAPIToolset', openApiToolsetFrom],
]);
