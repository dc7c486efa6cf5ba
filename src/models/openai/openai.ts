import type { OpenAI } from 'openai';
import { LinkedAbort } from '../../base/abort.ts';
import { isJsonObject } from '../../base/json.ts';
import { type Model, ModelError, type ModelRequest, type ModelResponse } from '../../core/model.ts';
import { modelError, retryAfterOf, transportError } from '../model-errors.ts';
import type { OpenAISettings } from '../provider-settings.ts';
import { type ChatDialect, toChatBody } from './openai-chat-request.ts';
import { fromChat } from './openai-chat-response.ts';
import { chatStream } from './openai-chat-stream.ts';
import { toResponsesBody } from './openai-responses-request.ts';
import { fromResponses } from './openai-responses-response.ts';
import { responsesStream } from './openai-responses-stream.ts';

/** One client, shared by all models of a registry. Loads the SDK on the first call. */
export interface OpenAIClient {
  readonly settings: OpenAISettings;
  load(): Promise<OpenAI>;
}

/** Milliseconds after which a call without data fails. */
const TIMEOUT_MS = 600_000;

export function openaiClient(settings: OpenAISettings): OpenAIClient {
  let loading: Promise<OpenAI> | undefined;
  return { settings, load: () => (loading ??= connect(settings)) };
}

async function connect({ apiKey, baseUrl }: OpenAISettings): Promise<OpenAI> {
  if (!apiKey && !baseUrl) throw new ModelError('AUTH_ERROR', 'No key for OpenAI: set OPENAI_API_KEY');
  const { OpenAI } = await import('openai');
  return new OpenAI({
    apiKey: apiKey ?? 'none',
    adminAPIKey: null,
    baseURL: baseUrl ?? 'https://api.openai.com/v1',
    // Other servers must not get data that identifies a customer of OpenAI.
    ...(baseUrl ? { organization: null, project: null } : {}),
    maxRetries: 0,
    timeout: TIMEOUT_MS,
    logLevel: 'off',
  });
}

/** Our names start with the provider (`openai/`, `ollama/` …); the server gets the rest. */
const modelId = (name: string): string =>
  name.replace(/^(?:openai-responses|apigee\/openai(?:\/v\d\w*)?|openai|ollama|vllm)\//, '');

/** A model with the chat completions API, which most other servers support, too. */
export function openaiChatModel(name: string, client: OpenAIClient): Model {
  const { baseUrl, maxTokensField = 'max_completion_tokens' } = client.settings;
  const dialect: ChatDialect = { maxTokens: maxTokensField, extraContent: baseUrl !== undefined };
  return model(name, client, async function* (sdk, request, signal) {
    const body = toChatBody(request, modelId(request.model), dialect);
    if (!request.stream) {
      yield fromChat(await sdk.chat.completions.create(body, { signal }));
      return;
    }
    const stream = chatStream();
    const streamed = { ...body, stream: true, stream_options: { include_usage: true } } as const;
    for await (const chunk of await sdk.chat.completions.create(streamed, { signal })) {
      const partial = stream.add(chunk);
      if (partial) yield partial;
    }
    yield* whole(stream.end());
  });
}

/** A model with the responses API. */
export function openaiResponsesModel(name: string, client: OpenAIClient): Model {
  return model(name, client, async function* (sdk, request, signal) {
    const body = toResponsesBody(request, modelId(request.model));
    if (!request.stream) {
      yield fromResponses(await sdk.responses.create(body, { signal }));
      return;
    }
    const stream = responsesStream();
    for await (const event of await sdk.responses.create({ ...body, stream: true }, { signal })) {
      const partial = stream.add(event);
      if (partial) yield partial;
    }
    yield* whole(stream.end());
  });
}

function whole(response: ModelResponse | undefined): ModelResponse[] {
  if (!response) throw new ModelError('NETWORK_ERROR', 'The stream of the model ended before its answer did');
  return [response];
}

type Ask = (sdk: OpenAI, request: ModelRequest, signal: AbortSignal) => AsyncIterable<ModelResponse>;

function model(name: string, client: OpenAIClient, ask: Ask): Model {
  return {
    name,
    async *generate(request, signal) {
      signal.throwIfAborted();
      const sdk = await client.load();
      using call = new LinkedAbort(signal);
      try {
        for await (const response of ask(sdk, request, call.signal)) {
          // The SDK ends an aborted stream as if it were complete.
          signal.throwIfAborted();
          yield response;
        }
      } catch (error) {
        if (signal.aborted) throw signal.reason;
        throw openaiError(error, client.settings);
      } finally {
        call.abort();
      }
    },
  };
}

/** Any failure of the SDK as a ModelError. */
function openaiError(error: unknown, { apiKey }: OpenAISettings): ModelError {
  if (error instanceof ModelError) return error;
  if (!(error instanceof Error) || !('requestID' in error)) return transportError(error, [apiKey]);
  const { status, headers, error: body, code, type } = error as InstanceType<typeof OpenAI.APIError>;
  if (status === undefined && body === undefined) return transportError(error, [apiKey]);
  const message = isJsonObject(body) && typeof body['message'] === 'string' ? body['message'] : error.message;
  return modelError({
    message,
    status,
    providerCode: code ?? type,
    retryAfter: headers ? retryAfterOf(headers) : undefined,
    secrets: [apiKey],
  });
}
