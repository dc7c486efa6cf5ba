import type { Model } from '../core/model.ts';
import type { Tool, Toolset } from '../core/runtime.ts';
import { geminiMajor } from '../tools/built-in/gemini-models.ts';
import { agentTool } from './agent-tool.ts';
import type { LlmDefinition } from './definition/llm-definition.ts';

/** Searches that the provider does itself. */
const searches: ReadonlySet<string> = new Set(['google_search', 'vertex_ai_search']);

/**
 * The tools as a model of this name takes them: Gemini 2 refuses a search of its own beside functions, so that there an
 * agent that does nothing but search is called in its place, as in ADK.
 */
export function withSearchAgents(
  tools: readonly (Tool | Toolset)[],
  model: string | Model | undefined,
  { makeAgent, outputSchema }: LlmDefinition,
): readonly (Tool | Toolset)[] {
  const name = typeof model === 'object' ? model.name : model;
  if (model === undefined || name === undefined || geminiMajor(name) !== 2) return tools;
  // The final answer of an agent with tools and a schema is given by calling a function.
  const hasFunctions = outputSchema ?? tools.some((tool) => tool.kind === 'toolset' || tool.declaration !== undefined);
  if (!hasFunctions) return tools;
  return tools.map((tool) =>
    tool.kind === 'tool' && searches.has(tool.name) ? searchAgent(tool, model, makeAgent) : tool,
  );
}

function searchAgent(tool: Tool, model: string | Model, make: LlmDefinition['makeAgent']): Tool {
  const agent = make({
    name: `${tool.name}_agent`,
    description: `${tool.description} Answers a request with what was found.`,
    model,
    instruction: 'Answer the request with what you find by searching.',
    tools: [tool],
  });
  return agentTool({ agent });
}
