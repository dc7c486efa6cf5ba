import type { GenerateContentParameters, GoogleGenAI } from '@google/genai';
import { LinkedAbort } from '../../base/abort.ts';
import { isJsonObject, type JsonObject } from '../../base/json.ts';
import {
  type ContextCacheConfig,
  type LiveInput,
  type Model,
  ModelError,
  type ModelRequest,
  type ModelResponse,
} from '../../core/model.ts';
import { modelError, transportError } from '../model-errors.ts';
import type { GeminiSettings } from '../provider-settings.ts';
import { GeminiCaches } from './gemini-cache.ts';
import { type CallWatch, watchedFetch } from './gemini-fetch.ts';
import { connectsFor } from './gemini-live-setup.ts';
import { geminiLive } from './gemini-live.ts';
import { toGeminiRequest } from './gemini-request.ts';
import { fromGemini } from './gemini-response.ts';
import { geminiStream } from './gemini-stream.ts';

/** One client of Google, shared by all models of a registry. Loads the SDK on the first call. */
export interface GeminiClient {
  readonly settings: GeminiSettings;
  readonly caches: GeminiCaches;
  load(): Promise<GoogleGenAI>;
  /** The same for live conversations, which mostly need another version of the Developer API. */
  loadLive(): Promise<GoogleGenAI>;
}

export function geminiClient(settings: GeminiSettings): GeminiClient {
  let loading: Promise<GoogleGenAI> | undefined;
  let loadingLive: Promise<GoogleGenAI> | undefined;
  const { vertex, apiVersion = vertex ? undefined : 'v1alpha' } = settings;
  return {
    settings,
    caches: new GeminiCaches(),
    load: () => (loading ??= connect(settings)),
    loadLive: () => (loadingLive ??= connect({ ...settings, apiVersion })),
  };
}

async function connect(settings: GeminiSettings): Promise<GoogleGenAI> {
  const { vertex = false, apiKey, location, baseUrl, apiVersion, credentials } = settings;
  const project = settings.project ?? credentials?.project_id;
  if (!vertex && !apiKey && !baseUrl) {
    throw new ModelError('AUTH_ERROR', 'No key for Gemini: set GOOGLE_API_KEY or GEMINI_API_KEY');
  }
  const { GoogleGenAI } = await import('@google/genai');
  const throughProject = vertex && project !== undefined;
  return new GoogleGenAI({
    vertexai: vertex,
    // The SDK's default version of the Developer API lacks newer features.
    apiVersion: apiVersion ?? (vertex ? 'v1beta1' : 'v1beta'),
    ...(throughProject ? { project, location: location ?? 'global' } : { apiKey: apiKey ?? 'none' }),
    ...(throughProject && credentials ? { googleAuthOptions: { credentials } } : {}),
    ...(baseUrl ? { httpOptions: { baseUrl } } : {}),
  });
}

/** A Gemini model by its name. `wireName` converts our names to Google's. */
export function geminiModel(
  name: string,
  client: GeminiClient,
  wireName: (name: string) => string = (modelName) => modelName,
): Model {
  return {
    name,
    generate(request, signal) {
      const wireRequest = { ...request, model: wireName(request.model) };
      const parameters = toGeminiRequest(wireRequest, { vertex: client.settings.vertex ?? false });
      const call: GeminiCall = { client, parameters, stream: request.stream, signal };
      return request.contextCache ? generateWithCache(call, request.contextCache) : generate(call);
    },
    connectsFor: connectsFor(wireName(name)),
    connect: (request, input, signal) =>
      connectLive(client, { ...request, model: wireName(request.model) }, input, signal),
  };
}

async function* connectLive(
  client: GeminiClient,
  request: ModelRequest,
  input: AsyncIterable<LiveInput>,
  signal: AbortSignal,
): AsyncGenerator<ModelResponse, void, void> {
  const { apiKey, vertex = false } = client.settings;
  const ai = await client.loadLive();
  yield* geminiLive(request, input, { ai, service: { vertex }, secrets: [apiKey], signal });
}

interface GeminiCall {
  readonly client: GeminiClient;
  readonly parameters: GenerateContentParameters;
  readonly stream: boolean;
  readonly signal: AbortSignal;
}

/** The same, with the prefix of the request cached at the provider. */
async function* generateWithCache(
  call: GeminiCall,
  config: ContextCacheConfig,
): AsyncGenerator<ModelResponse, void, void> {
  const { client, parameters, signal } = call;
  signal.throwIfAborted();
  const { caches } = await client.load();
  const lease = await client.caches.lease({ caches, parameters, config, signal });
  let begun = false;
  try {
    for await (const response of generate({ ...call, parameters: lease.parameters })) {
      begun = true;
      yield response.partial ? response : lease.withCacheMetadata(response);
    }
    return;
  } catch (error) {
    if (begun || !lease.isCacheLost(error)) throw error;
  } finally {
    lease.release();
  }
  yield* generate(call);
}

async function* generate({
  client,
  parameters,
  stream: streams,
  signal,
}: GeminiCall): AsyncGenerator<ModelResponse, void, void> {
  signal.throwIfAborted();
  const { models } = await client.load();
  using call = new LinkedAbort(signal);
  const watch: CallWatch = {};
  try {
    const httpOptions = { ...parameters.config?.httpOptions, fetch: watchedFetch(watch) };
    const ask = { ...parameters, config: { ...parameters.config, abortSignal: call.signal, httpOptions } };
    if (!streams) {
      const whole = await models.generateContent(ask);
      yield fromGemini(whole, watch.finishMessage);
      return;
    }
    const stream = geminiStream();
    for await (const chunk of await models.generateContentStream(ask)) {
      const partial = stream.add(chunk);
      if (partial) yield partial;
    }
    const whole = stream.end(watch.finishMessage);
    if (!whole) throw new ModelError('NETWORK_ERROR', 'The stream of the model ended before it began');
    yield whole;
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    throw geminiError(error, watch, client.settings);
  } finally {
    // The SDK keeps the connection open when a stream is not read to its end.
    call.abort();
  }
}

/** Any failure of the SDK as a ModelError. */
function geminiError(error: unknown, watch: CallWatch, { apiKey }: GeminiSettings): ModelError {
  if (error instanceof ModelError) return error;
  const status =
    error instanceof Error && 'status' in error && typeof error.status === 'number' ? error.status : undefined;
  if (!(error instanceof Error) || status === undefined) return transportError(error, [apiKey]);
  const body = bodyOf(error.message);
  const details = Array.isArray(body?.['details']) ? body['details'].filter(isJsonObject) : [];
  const reason = details.find((detail) => detail['reason'] === 'API_KEY_INVALID')
    ? 'API_KEY_INVALID'
    : body?.['status'];
  return modelError({
    message: typeof body?.['message'] === 'string' ? body['message'] : error.message,
    status,
    providerCode: typeof reason === 'string' ? reason : undefined,
    retryAfter: watch.retryAfter ?? retryDelay(details),
    secrets: [apiKey],
  });
}

/** The body of an error response: the SDK puts it into the message of its error. */
function bodyOf(message: string): JsonObject | undefined {
  try {
    const body: unknown = JSON.parse(message.slice(message.indexOf('{')));
    const error = isJsonObject(body) ? body['error'] : undefined;
    return isJsonObject(error) ? error : undefined;
  } catch {
    return undefined;
  }
}

/** Seconds, from Google's `RetryInfo` (`"3.5s"`). */
function retryDelay(details: readonly JsonObject[]): number | undefined {
  const delay = details.find((detail) => 'retryDelay' in detail)?.['retryDelay'];
  const seconds = typeof delay === 'string' ? Number.parseFloat(delay) : Number.NaN;
  return seconds >= 0 ? seconds : undefined;
}
