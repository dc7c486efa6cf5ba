import { AppError } from '../../base/errors.ts';
import type { ModelRequest, ModelResponse, SideResponse, SideRequest } from '../../core/model.ts';
import type { RunContext } from '../../core/runtime.ts';
import type { LlmDefinition } from '../definition/llm-definition.ts';
import { modelFor, planFor } from '../llm-plan.ts';
import { stepTools } from '../tool-calls/step-tools.ts';
import { callModel } from './model-call.ts';

/**
 * Calls the model of the context's agent outside the conversation: the model hooks run and the call counts for the run's
 * limit, but no event results. For MCP sampling.
 */
export async function callModelAside(
  definition: LlmDefinition,
  request: SideRequest,
  ctx: RunContext,
): Promise<SideResponse> {
  const model = modelFor(planFor(definition, ctx), ctx);
  const modelRequest: ModelRequest = { model: model.name, ...request, stream: false };
  const step = {
    request: modelRequest,
    tools: stepTools(definition.name, []),
    contentsSource: undefined,
    callbacks: undefined,
  };
  let response: ModelResponse | undefined;
  for await (const event of callModel(definition, model, step, ctx)) if (!event.partial) response = event;
  if (!response) throw new AppError('model_failed', `The model "${model.name}" gave no answer`);
  return { model: model.name, response };
}
