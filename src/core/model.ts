import type { z } from 'zod';
import { AppError, type AppErrorOptions } from '../base/errors.ts';
import type { JsonObject } from '../base/json.ts';
import type { Blob, Content } from '../schemas/content.ts';
import type { responseFields } from '../schemas/event-schema.ts';

/** The model of new apps, judges and simulated users that name none; ADK's default as well. */
export const defaultModel = 'gemini-3.5-flash';

/** A function as the model sees it. `parameters` and `response` are JSON Schema; adapters translate them. */
export interface FunctionDeclaration {
  readonly name: string;
  readonly description: string;
  readonly parameters?: JsonObject;
  readonly response?: JsonObject;
}

/** One entry of a request's tools: the declared functions, or a built-in of the provider such as `{ googleSearch: {} }`. */
export interface ToolEntry {
  functionDeclarations?: FunctionDeclaration[];
  [builtIn: string]: unknown;
}

/** Generation settings in Gemini's vocabulary (camelCase). Fields not named here pass through to Gemini. */
export interface GenerateConfig {
  /** One text; sections are joined by a blank line. */
  systemInstruction?: string;
  tools?: ToolEntry[];
  /** JSON Schema of the response. Adapters translate it for their provider. */
  responseSchema?: JsonObject;
  responseMimeType?: string;
  temperature?: number;
  topP?: number;
  topK?: number;
  maxOutputTokens?: number;
  stopSequences?: string[];
  seed?: number;
  labels?: Record<string, string>;
  thinkingConfig?: JsonObject;
  [setting: string]: unknown;
}

/** One call of a model. Contents taken from history are frozen: replace an entry, do not edit it in place. */
export interface ModelRequest {
  model: string;
  contents: Content[];
  config: GenerateConfig;
  /** Whether partial responses are wanted before the whole one. */
  stream: boolean;
  /** Settings of a live connection (modalities, speech, transcription …); absent otherwise. */
  liveConfig?: JsonObject;
  /** When the provider should keep the beginning of the request for later ones. */
  contextCache?: ContextCacheConfig;
  /** Called for every failed attempt that will be repeated, before the delay. For traces; never serialised. */
  onRetry?: (retry: ModelRetry) => void;
}

/** When a provider-side context cache is made and renewed. */
export interface ContextCacheConfig {
  /** Model calls that one cache serves. Default 10. */
  readonly maxInvocations?: number;
  /** Default 1,800. */
  readonly ttlSeconds?: number;
  /** Prompts of fewer tokens are not cached. Default 0. */
  readonly minTokens?: number;
}

/** One failed attempt. `attempt` counts from 1; `delayMs` is the delay before the next one. */
export interface ModelRetry {
  readonly attempt: number;
  readonly delayMs: number;
  readonly error: ModelError;
}

type ResponseFields = { [Field in keyof typeof responseFields]?: z.infer<(typeof responseFields)[Field]> };

/** A response of a model: a chunk (`partial`) or complete. Errors that the provider reports are fields, not exceptions. */
export type ModelResponse = ResponseFields;

/** A request that a tool makes to its agent's model (MCP sampling), outside the agent's own steps. */
export type SideRequest = Pick<ModelRequest, 'contents' | 'config'>;

export interface SideResponse {
  /** The name of the model that answered. */
  readonly model: string;
  readonly response: ModelResponse;
}

/** One input of a live client. */
export type LiveInput =
  | { readonly kind: 'content'; readonly content: Content }
  | { readonly kind: 'blob'; readonly blob: Blob }
  | { readonly kind: 'activityStart' }
  | { readonly kind: 'activityEnd' }
  /** The microphone was turned off. */
  | { readonly kind: 'audioStreamEnd' };

/** Talks to one provider about one model. */
export interface Model {
  readonly name: string;
  /**
   * Yields chunks if `request.stream`, then exactly one complete response. Throws ModelError if the provider cannot be
   * reached or refuses. Stops soon after `signal` aborts.
   */
  generate(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelResponse>;
  /** Opens a two-way conversation. The end of `input` ends it. Absent: the model is served turn by turn. */
  connect?(request: ModelRequest, input: AsyncIterable<LiveInput>, signal: AbortSignal): AsyncIterable<ModelResponse>;
  /** `media`: connects only for clients that send audio or images; others are served turn by turn. Default `all`. */
  readonly connectsFor?: 'all' | 'media';
}

/** Finds models by name. */
export interface ModelRegistry {
  /** Throws ConfigurationException when no pattern fits the name. Cheap: SDKs load on the first call of the model. */
  resolve(name: string): Model;
  /** Whether the environment holds what the named model needs (a key, a base URL …), so that it is worth calling. */
  isConfigured(name: string): boolean;
}

/** Kinds of model failure, after the interface specification, section 7. */
export type ModelErrorCategory =
  | 'AUTH_ERROR'
  | 'RATE_LIMITED'
  | 'NETWORK_ERROR'
  | 'CLIENT_ERROR'
  | 'SERVER_ERROR'
  | 'TIMEOUT_ERROR'
  | 'MODEL_ERROR'
  | 'UNKNOWN_ERROR';

/** A model call that failed. `providerCode` is the provider's own word for it (`RESOURCE_EXHAUSTED`, `overloaded_error` …). */
export class ModelError extends AppError {
  readonly category: ModelErrorCategory;
  readonly status: number | undefined;
  readonly providerCode: string | undefined;

  constructor(
    category: ModelErrorCategory,
    message: string,
    options: AppErrorOptions & { status?: number; providerCode?: string } = {},
  ) {
    super('model_failed', message, options);
    this.category = category;
    this.status = options.status;
    this.providerCode = options.providerCode;
  }
}

/** Appends a section to the system instruction of a request. */
export function appendInstruction({ config }: ModelRequest, text: string): void {
  if (text === '') return;
  config.systemInstruction = config.systemInstruction ? `${config.systemInstruction}\n\n${text}` : text;
}
