import { redact, shortestSecret } from '../base/redact.ts';
import { ModelError, type ModelErrorCategory } from '../core/model.ts';

/** The start of the message per category; the provider's message follows. */
const labels: Readonly<Record<ModelErrorCategory, string>> = {
  AUTH_ERROR: 'Not authorized by the model provider',
  RATE_LIMITED: 'Rate limited by the model provider',
  NETWORK_ERROR: 'Network error on the way to the model',
  CLIENT_ERROR: 'Request refused by the model provider',
  SERVER_ERROR: 'Server error of the model provider',
  TIMEOUT_ERROR: 'The model did not answer in time',
  MODEL_ERROR: 'Model error',
  UNKNOWN_ERROR: 'Unknown model error',
};

const LONGEST_MESSAGE = 2_000;

/** Error codes of providers, beside or instead of an HTTP status. */
const categories: Readonly<Record<string, ModelErrorCategory>> = {
  API_KEY_INVALID: 'AUTH_ERROR',
  UNAUTHENTICATED: 'AUTH_ERROR',
  PERMISSION_DENIED: 'AUTH_ERROR',
  authentication_error: 'AUTH_ERROR',
  permission_error: 'AUTH_ERROR',
  invalid_api_key: 'AUTH_ERROR',
  RESOURCE_EXHAUSTED: 'RATE_LIMITED',
  rate_limit_error: 'RATE_LIMITED',
  rate_limit_exceeded: 'RATE_LIMITED',
  insufficient_quota: 'RATE_LIMITED',
  DEADLINE_EXCEEDED: 'TIMEOUT_ERROR',
  timeout_error: 'TIMEOUT_ERROR',
  INVALID_ARGUMENT: 'CLIENT_ERROR',
  FAILED_PRECONDITION: 'CLIENT_ERROR',
  OUT_OF_RANGE: 'CLIENT_ERROR',
  NOT_FOUND: 'CLIENT_ERROR',
  invalid_request_error: 'CLIENT_ERROR',
  not_found_error: 'CLIENT_ERROR',
  request_too_large: 'CLIENT_ERROR',
  billing_error: 'CLIENT_ERROR',
  INTERNAL: 'SERVER_ERROR',
  UNAVAILABLE: 'SERVER_ERROR',
  api_error: 'SERVER_ERROR',
  overloaded_error: 'SERVER_ERROR',
  server_error: 'SERVER_ERROR',
};

/** The category of a provider's error code. */
export function categoryOfCode(code: string | undefined): ModelErrorCategory {
  return (code !== undefined && Object.hasOwn(categories, code) && categories[code]) || 'UNKNOWN_ERROR';
}

function categoryOfStatus(status: number): ModelErrorCategory | undefined {
  if (status === 401 || status === 403) return 'AUTH_ERROR';
  if (status === 429) return 'RATE_LIMITED';
  if (status === 408 || status === 504) return 'TIMEOUT_ERROR';
  if (status >= 500) return 'SERVER_ERROR';
  return status >= 400 ? 'CLIENT_ERROR' : undefined;
}

/** Codes of the operating system and of the HTTP client; other codes are errors of the caller. */
const transportCode = /^(?:E[A-Z0-9]+|UND_ERR_\w+)$/;
const timeoutCodes = new Set([
  'ETIMEDOUT',
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT',
]);

/** Used last, in order: hints in the error's text. Numbers alone and "invalid" would mislead and are left out. */
const hints: readonly (readonly [RegExp, ModelErrorCategory])[] = [
  [/timed? ?out|deadline/i, 'TIMEOUT_ERROR'],
  [/unauthorized|unauthenticated|authentication|api key|credentials/i, 'AUTH_ERROR'],
  [/rate limit|quota|too many requests/i, 'RATE_LIMITED'],
  [/bad request|unsupported|not supported/i, 'CLIENT_ERROR'],
  [/internal server error|service unavailable|overloaded/i, 'SERVER_ERROR'],
  [/terminated|fetch failed|connection|network|socket|dns|incomplete json|unexpected end/i, 'NETWORK_ERROR'],
  [/model .*(?:not found|unavailable|deprecated)/i, 'MODEL_ERROR'],
];

/** A failed call, as an adapter reports it. */
export interface Failure {
  readonly message: string;
  readonly status?: number | undefined;
  readonly providerCode?: string | undefined;
  /** Seconds. */
  readonly retryAfter?: number | undefined;
  /** Texts to remove from the message, such as the key. */
  readonly secrets?: readonly (string | undefined)[];
}

/** The error of a call that the provider rejected. Category by a clear code, then by HTTP status, then by text. */
export function modelError(failure: Failure): ModelError {
  const { message, status, providerCode, retryAfter, secrets = [] } = failure;
  const byCode = categoryOfCode(providerCode);
  const byStatus = status === undefined ? undefined : categoryOfStatus(status);
  // Google answers a wrong key with 400; otherwise the status is more reliable than the code.
  const known = byCode === 'AUTH_ERROR' ? byCode : (byStatus ?? byCode);
  const category = known === 'UNKNOWN_ERROR' ? (hints.find(([hint]) => hint.test(message))?.[1] ?? known) : known;
  return new ModelError(category, `${labels[category]}: ${clean(message, secrets)}`, {
    ...(status === undefined ? {} : { status }),
    ...(providerCode === undefined ? {} : { providerCode }),
    ...(retryAfter === undefined ? {} : { retryAfter }),
  });
}

function clean(message: string, secrets: Failure['secrets'] = []): string {
  let text = message;
  // A shorter text is no key, and removing it would damage ordinary words.
  for (const secret of secrets)
    if (secret && secret.length >= shortestSecret) text = text.replaceAll(secret, '[redacted]');
  text = redact(text).replaceAll(/\s+/g, ' ').trim();
  return text.length > LONGEST_MESSAGE ? `${text.slice(0, LONGEST_MESSAGE)} …` : text;
}

/** The error of a failed connection: refused, reset, broken, unknown host, or timeout. */
export function transportError(error: unknown, secrets: Failure['secrets'] = []): ModelError {
  const { code, texts } = describe(error);
  const message = texts.join(': ') || 'no details';
  // Invalid JSON: the response was truncated, or comes from a proxy.
  if (code === undefined && !(error instanceof SyntaxError)) return modelError({ message, secrets });
  const category = code !== undefined && timeoutCodes.has(code) ? 'TIMEOUT_ERROR' : 'NETWORK_ERROR';
  const options = code === undefined ? {} : { providerCode: code };
  return new ModelError(category, `${labels[category]}: ${clean(message, secrets)}`, options);
}

/** The messages of an error and its causes, and the first system or socket code among them. */
function describe(error: unknown): { code: string | undefined; texts: string[] } {
  const texts: string[] = [];
  let code: string | undefined;
  for (let current: unknown = error, depth = 0; current instanceof Error && depth < 5; depth += 1) {
    if ('code' in current && typeof current.code === 'string' && transportCode.test(current.code))
      code ??= current.code;
    if (current.name === 'TimeoutError') code ??= 'ETIMEDOUT';
    if (current.message !== '' && !texts.includes(current.message)) texts.push(current.message);
    current = current instanceof AggregateError ? (current.errors[0] ?? current.cause) : current.cause;
  }
  return { code, texts: texts.length > 0 || error instanceof Error ? texts : [String(error)] };
}

/** Seconds to wait, from a `Retry-After` (seconds or a date) or `retry-after-ms` header. */
export function retryAfterOf(headers: Headers, now = Date.now()): number | undefined {
  const ms = Number(headers.get('retry-after-ms') ?? Number.NaN);
  if (ms >= 0) return ms / 1000;
  const value = headers.get('retry-after');
  if (value === null || value.trim() === '') return undefined;
  const seconds = Number(value);
  if (Number.isFinite(seconds)) return Math.max(0, seconds);
  const date = Date.parse(value);
  return Number.isNaN(date) ? undefined : Math.max(0, (date - now) / 1000);
}
