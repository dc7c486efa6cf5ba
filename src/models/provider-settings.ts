import type { ServiceAccountCredentials } from './service-account.ts';

// How providers are reached. These types name no SDK, because agents use them.

/** How Gemini is reached: with a key, or through a Google Cloud project. */
export interface GeminiSettings {
  readonly apiKey?: string | undefined;
  readonly vertex?: boolean | undefined;
  readonly project?: string | undefined;
  readonly location?: string | undefined;
  readonly baseUrl?: string | undefined;
  readonly apiVersion?: string | undefined;
  /** Whose project it is; default: those of the machine. */
  readonly credentials?: ServiceAccountCredentials | undefined;
}

/** How Claude is reached: with a key, or through another address that speaks the same wire. */
export interface AnthropicSettings {
  readonly apiKey?: string | undefined;
  /** A bearer token in the place of a key. */
  readonly authToken?: string | undefined;
  readonly baseUrl?: string | undefined;
}

/** How OpenAI, or a server that speaks its wire, is reached. */
export interface OpenAISettings {
  readonly apiKey?: string | undefined;
  /** Another server, its version included (`http://localhost:11434/v1`). */
  readonly baseUrl?: string | undefined;
  readonly maxTokensField?: 'max_tokens' | 'max_completion_tokens';
}
