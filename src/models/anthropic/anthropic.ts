import type { Anthropic } from '@anthropic-ai/sdk';
import { LinkedAbort } from '../../base/abort.ts';
import { isJsonObject } from '../../base/json.ts';
import { type Model, ModelError, type ModelRequest, type ModelResponse } from '../../core/model.ts';
import { modelError, retryAfterOf, transportError } from '../model-errors.ts';
import type { AnthropicSettings } from '../provider-settings.ts';
import { toAnthropicCall } from './anthropic-request.ts';
import { fromAnthropic } from './anthropic-response.ts';
import { anthropicStream } from './anthropic-stream.ts';

/** One client of Anthropic, shared by all models of a registry. Loads the SDK on the first call. */
export interface AnthropicClient {
  readonly settings: AnthropicSettings;
  load(): Promise<Anthropic>;
}

type Message = Anthropic.Messages.Message;
type StreamEvents = AsyncIterable<Anthropic.Messages.RawMessageStreamEvent>;

const PATH = '/v1/messages';
/** Milliseconds after which a call without data fails. */
const TIMEOUT_MS = 600_000;

export function anthropicClient(settings: AnthropicSettings): AnthropicClient {
  let loading: Promise<Anthropic> | undefined;
  return { settings, load: () => (loading ??= connect(settings)) };
}

async function connect({ apiKey, authToken, baseUrl }: AnthropicSettings): Promise<Anthropic> {
  if (!apiKey && !authToken && !baseUrl) {
    throw new ModelError('AUTH_ERROR', 'No key for Claude: set ANTHROPIC_API_KEY');
  }
  const { Anthropic } = await import('@anthropic-ai/sdk');
  return new Anthropic({
    ...(authToken && !apiKey ? { authToken } : { apiKey: apiKey ?? 'none' }),
    baseURL: baseUrl ?? 'https://api.anthropic.com',
    // Compatible services expect the key in the older header.
    ...(baseUrl && apiKey ? { defaultHeaders: { 'x-api-key': apiKey } } : {}),
    maxRetries: 0,
    timeout: TIMEOUT_MS,
    logLevel: 'off',
    openTelemetry: false,
  });
}

/** A Claude model by its name, with or without the prefix `anthropic/`. */
export function anthropicModel(name: string, client: AnthropicClient): Model {
  return { name, generate: (request, signal) => generate(client, request, signal) };
}

async function* generate(
  client: AnthropicClient,
  request: ModelRequest,
  signal: AbortSignal,
): AsyncGenerator<ModelResponse, void, void> {
  signal.throwIfAborted();
  const sdk = await client.load();
  using call = new LinkedAbort(signal);
  try {
    const { body, headers } = toAnthropicCall(request, request.model.replace(/^anthropic\//, ''));
    // Not the SDK's own method, which logs warnings about older models to the console.
    const options = { headers, signal: call.signal, timeout: TIMEOUT_MS };
    if (!request.stream) {
      yield fromAnthropic(await sdk.post<Message>(PATH, { ...options, body }));
      return;
    }
    const stream = anthropicStream();
    const events = await sdk.post<StreamEvents>(PATH, { ...options, body: { ...body, stream: true }, stream: true });
    for await (const event of events) {
      const partial = stream.add(event);
      if (partial) yield partial;
    }
    // The SDK ends an aborted stream as if it were complete.
    signal.throwIfAborted();
    const whole = stream.end();
    if (!whole) throw new ModelError('NETWORK_ERROR', 'The stream of the model ended before its answer did');
    yield whole;
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    throw anthropicError(error, client.settings);
  } finally {
    call.abort();
  }
}

/** Any failure of the SDK as a ModelError. */
function anthropicError(error: unknown, { apiKey, authToken }: AnthropicSettings): ModelError {
  if (error instanceof ModelError) return error;
  const secrets = [apiKey, authToken];
  if (!(error instanceof Error) || !('error' in error)) return transportError(error, secrets);
  const { status, headers, error: body } = error as InstanceType<typeof Anthropic.APIError>;
  const details = isJsonObject(body) && isJsonObject(body['error']) ? body['error'] : undefined;
  if (status === undefined && !details) return transportError(error, secrets);
  return modelError({
    message: typeof details?.['message'] === 'string' ? details['message'] : error.message,
    status,
    providerCode: typeof details?.['type'] === 'string' ? details['type'] : undefined,
    retryAfter: headers ? retryAfterOf(headers) : undefined,
    secrets,
  });
}
