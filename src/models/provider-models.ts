import type { Model } from '../core/model.ts';
import { anthropicClient, anthropicModel } from './anthropic/anthropic.ts';
import { geminiClient, geminiModel } from './gemini/gemini.ts';
import { openaiChatModel, openaiClient, openaiResponsesModel } from './openai/openai.ts';
import type { AnthropicSettings, GeminiSettings, OpenAISettings } from './provider-settings.ts';
import { withRetry, type RetryOptions } from './retry.ts';

interface ModelOptions {
  /** The provider's name for the model. */
  readonly model: string;
  readonly retry?: RetryOptions;
}

/** A Gemini model with its own settings, for agents that must not use the server's. */
export function gemini({ model, retry, ...settings }: ModelOptions & GeminiSettings): Model {
  return withRetry(geminiModel(model, geminiClient(settings)), retry);
}

/** A Claude model with its own settings. */
export function claude({ model, retry, ...settings }: ModelOptions & AnthropicSettings): Model {
  return withRetry(anthropicModel(model, anthropicClient(settings)), retry);
}

/** A model of OpenAI, or of a server with its API, with its own settings. */
export function openai({
  model,
  retry,
  api = 'chat',
  ...settings
}: ModelOptions & OpenAISettings & { readonly api?: 'chat' | 'responses' }): Model {
  const create = api === 'chat' ? openaiChatModel : openaiResponsesModel;
  return withRetry(create(model, openaiClient(settings)), retry);
}
