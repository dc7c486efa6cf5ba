import { AppError } from '../base/errors.ts';
import { anthropicClient, anthropicModel } from './anthropic/anthropic.ts';
import { geminiClient, geminiModel } from './gemini/gemini.ts';
import { openaiChatModel, openaiClient, openaiResponsesModel } from './openai/openai.ts';
import type { GeminiSettings, OpenAISettings } from './provider-settings.ts';
import type { Env, ModelRegistration } from './registration.ts';
import { withRetry, type RetryOptions } from './retry.ts';
import { scriptedModel } from './scripted/scripted.ts';

const PROJECT_MODEL = 'projects/.+/locations/.+/(?:endpoints/.+|publishers/google/models/.+)';
/** `apigee/[provider/][version/]model` */
const APIGEE = /^apigee\/(?:(vertex_ai|gemini|openai)\/)?(?:(v\d\w*)\/)?(.+)$/;

/** The value of the first of these variables that is not empty. */
function first(env: Env, ...names: readonly string[]): string | undefined {
  for (const name of names) {
    const value = env[name]?.trim();
    if (value) return value;
  }
  return undefined;
}

const isOn = (value: string | undefined): boolean => value !== undefined && /^(?:true|1)$/i.test(value);
const usesVertex = (env: Env): boolean => isOn(first(env, 'GOOGLE_GENAI_USE_ENTERPRISE', 'GOOGLE_GENAI_USE_VERTEXAI'));

/** All built-in kinds of models. Nothing connects or loads before a model is called. */
export function builtInModels(env: Env, retry: RetryOptions = {}): ModelRegistration[] {
  const providers = [...gemini(env), apigee(env), ...claude(env), ...openai(env)];
  return [
    ...providers.map((one) => ({ ...one, create: (name: string) => withRetry(one.create(name), retry) })),
    { pattern: 'scripted', create: () => scriptedModel([]), isConfigured: () => true },
  ];
}

function gemini(env: Env): ModelRegistration[] {
  const settings = geminiSettings(env, usesVertex(env));
  const client = geminiClient(settings);
  const baseUrl = first(env, 'GOOGLE_VERTEX_BASE_URL');
  return [
    {
      pattern: '(?:models/)?(?:gemini|gemma)-.+|tunedModels/.+',
      create: (name) => geminiModel(name, client),
      // A base URL is not enough: Google's service needs a credential.
      isConfigured: () => Boolean(settings.apiKey ?? (settings.vertex && settings.project)),
    },
    {
      // A name that contains a project is called through that project.
      pattern: PROJECT_MODEL,
      create(name) {
        const [, project, , location] = name.split('/');
        return geminiModel(name, geminiClient({ vertex: true, project, location, baseUrl }));
      },
    },
  ];
}

function geminiSettings(env: Env, vertex: boolean): GeminiSettings {
  const apiVersion = first(env, 'GOOGLE_GENAI_API_VERSION');
  return {
    vertex,
    apiKey: first(env, 'GOOGLE_GENAI_API_KEY', 'GOOGLE_API_KEY', 'GEMINI_API_KEY'),
    ...(vertex ? { project: first(env, 'GOOGLE_CLOUD_PROJECT'), location: first(env, 'GOOGLE_CLOUD_LOCATION') } : {}),
    baseUrl: first(env, vertex ? 'GOOGLE_VERTEX_BASE_URL' : 'GOOGLE_GEMINI_BASE_URL'),
    ...(apiVersion && apiVersion !== 'beta' ? { apiVersion } : {}),
  };
}

/** Models behind an Apigee proxy, which uses the API of the provider in the name. */
function apigee(env: Env): ModelRegistration {
  const proxyUrl = first(env, 'APIGEE_PROXY_URL');
  return {
    pattern: 'apigee/.+',
    create(name) {
      if (!proxyUrl) throw new AppError('ConfigurationException', `Model "${name}" needs APIGEE_PROXY_URL`);
      const [, provider, apiVersion] = APIGEE.exec(name) ?? [];
      if (provider === 'openai') {
        return openaiChatModel(name, openaiClient({ baseUrl: proxyUrl, apiKey: first(env, 'OPENAI_API_KEY') }));
      }
      const vertex = provider ? provider === 'vertex_ai' : usesVertex(env);
      const settings = geminiSettings(env, vertex);
      const client = geminiClient({ ...settings, baseUrl: proxyUrl, apiVersion: apiVersion ?? settings.apiVersion });
      return geminiModel(name, client, (modelName) => APIGEE.exec(modelName)?.[3] ?? modelName);
    },
    isConfigured: () => proxyUrl !== undefined,
  };
}

function claude(env: Env): ModelRegistration[] {
  const apiKey = first(env, 'ANTHROPIC_API_KEY');
  const authToken = first(env, 'ANTHROPIC_AUTH_TOKEN');
  const baseUrl = first(env, 'ANTHROPIC_BASE_URL');
  const client = anthropicClient({ apiKey, authToken, baseUrl });
  return [
    {
      pattern: 'claude-.+|anthropic/.+',
      create: (name) => anthropicModel(name, client),
      isConfigured: () => Boolean(apiKey ?? authToken ?? baseUrl),
    },
  ];
}

function openai(env: Env): ModelRegistration[] {
  const settings = { apiKey: first(env, 'OPENAI_API_KEY'), baseUrl: first(env, 'OPENAI_BASE_URL') };
  const client = openaiClient(settings);
  const isConfigured = (): boolean => Boolean(settings.apiKey ?? settings.baseUrl);
  const ollamaUrl = first(env, 'OLLAMA_BASE_URL', 'OLLAMA_API_BASE', 'OLLAMA_HOST');
  const vllmUrl = first(env, 'VLLM_BASE_URL', 'HOSTED_VLLM_API_BASE');
  return [
    {
      pattern: String.raw`openai/.+|gpt-.+|chatgpt-.+|o\d(?:-.+)?`,
      create: (name) => openaiChatModel(name, client),
      isConfigured,
    },
    { pattern: 'openai-responses/.+', create: (name) => openaiResponsesModel(name, client), isConfigured },
    compatible('ollama', ollamaUrl, {
      baseUrl: versioned(ollamaUrl ?? '127.0.0.1:11434'),
      maxTokensField: 'max_tokens',
    }),
    compatible('vllm', vllmUrl, {
      baseUrl: versioned(vllmUrl ?? '127.0.0.1:8000'),
      apiKey: first(env, 'VLLM_API_KEY', 'HOSTED_VLLM_API_KEY'),
    }),
  ];
}

/** Models of an OpenAI-compatible server. They count as configured when its URL is set, although there is a default URL. */
function compatible(prefix: string, url: string | undefined, settings: OpenAISettings): ModelRegistration {
  const client = openaiClient(settings);
  return {
    pattern: `${prefix}/.+`,
    create: (name) => openaiChatModel(name, client),
    isConfigured: () => url !== undefined,
  };
}

/** The URL with a scheme, and with the API version of these servers. */
function versioned(url: string): string {
  const withScheme = /^https?:\/\//.test(url) ? url : `http://${url}`;
  const bare = withScheme.replace(/\/+$/, '');
  return /\/v\d+\w*$/.test(bare) ? bare : `${bare}/v1`;
}
