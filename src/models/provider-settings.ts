import type { ServiceAccountCredentials } from './service-account.ts';

// Settings of the providers. These types name no SDK, because agents use them.

/** Settings of Gemini: a key, or a Google Cloud project. */
export interface GeminiSettings {
  readonly apiKey?: string | undefined;
  readonly vertex?: boolean | undefined;
  readonly project?: string | undefined;
  readonly location?: string | undefined;
  readonly baseUrl?: string | undefined;
  readonly apiVersion?: string | undefined;
  /** The service account of the project; default: the credential of this machine. */
  readonly credentials?: ServiceAccountCredentials | undefined;
}

/** Settings of Claude: a key, or the URL of another server with the same API. */
export interface AnthropicSettings {
  readonly apiKey?: string | undefined;
  /** A bearer token instead of a key. */
  readonly authToken?: string | undefined;
  readonly baseUrl?: string | undefined;
}

/** Settings of OpenAI, or of a server with its API. */
export interface OpenAISettings {
  readonly apiKey?: string | undefined;
  /** Another server, including the API version (`http://localhost:11434/v1`). */
  readonly baseUrl?: string | undefined;
  readonly maxTokensField?: 'max_tokens' | 'max_completion_tokens';
}
