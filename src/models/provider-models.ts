import type { Model } from '../core/model.ts';
import { anthropicClient, anthropicModel, type AnthropicSettings } from './anthropic.ts';
import { geminiClient, geminiModel, type GeminiSettings } from './gemini.ts';
import { openaiChatModel, openaiClient, openaiResponsesModel, type OpenAISettings } from './openai.ts';
import { retried, type RetryOptions } from './retry.ts';

interface ModelOptions {
  /** The provider's name for the model. */
  readonly model: string;
  readonly retry?: RetryOptions;
}

/** A Gemini model with settings of its own, for agents that are not to use the server's. */
export function gemini({ model, retry, ...settings }: ModelOptions & GeminiSettings): Model {
  return retried(geminiModel(model, geminiClient(settings)), retry);
}

/** A Claude model with settings of its own. */
export function claude({ model, retry, ...settings }: ModelOptions & AnthropicSettings): Model {
  return retried(anthropicModel(model, anthropicClient(settings)), retry);
}

/** A model of OpenAI, or of a server that speaks its wire, with settings of its own. */
export function openai({
  model,
  retry,
  api = 'chat',
  ...settings
}: ModelOptions & OpenAISettings & { readonly api?: 'chat' | 'responses' }): Model {
  const create = api === 'chat' ? openaiChatModel : openaiResponsesModel;
  return retried(create(model, openaiClient(settings)), retry);
}
