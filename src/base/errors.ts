import { redact } from './redact.ts';

/**
 * Every failure we report on purpose: a stable code, and the HTTP status it answers with.
 * Codes are API: add, never rename. The CamelCase ones are the named errors of the interface specification, section 7.
 */
export const httpStatus = {
  invalid_request: 400,
  invalid_name: 400,
  unauthenticated: 401,
  forbidden: 403,
  origin_not_allowed: 403,
  host_not_allowed: 403,
  app_state_not_allowed: 403,
  development_route_off: 403,
  import_not_allowed: 403,
  not_found: 404,
  app_not_found: 404,
  session_not_found: 404,
  event_not_found: 404,
  artifact_not_found: 404,
  trace_not_found: 404,
  run_not_found: 404,
  eval_not_found: 404,
  method_not_allowed: 405,
  app_exists: 409,
  session_exists: 409,
  session_busy: 409,
  session_changed: 409,
  run_exists: 409,
  eval_exists: 409,
  imported_history: 409,
  gone: 410,
  too_large: 413,
  unsupported_media_type: 415,
  invalid_range: 416,
  idempotency_mismatch: 422,
  upgrade_required: 426,
  rate_limited: 429,
  queue_full: 429,
  headers_too_large: 431,
  run_cancelled: 499,
  run_interrupted: 499,
  internal: 500,
  app_broken: 500,
  agent_not_found: 500,
  agent_failed: 500,
  tool_failed: 500,
  not_supported: 501,
  model_failed: 502,
  model_unavailable: 502,
  unavailable: 503,
  timed_out: 504,
  storage_full: 507,
  LlmCallsLimitExceededException: 500,
  ConfigurationException: 500,
  A2AClientError: 502,
  AgentCardResolutionError: 502,
  GenAiFieldMissingException: 502,
  McpInitializationException: 502,
  McpToolsetException: 502,
  McpToolDeclarationException: 502,
  McpToolLoadingException: 502,
  McpSessionInitializationException: 502,
  MessageConversionException: 400,
  FunctionCallNotFound: 400,
} as const;

export type ErrorCode = keyof typeof httpStatus;

/** A failure we foresee. Its message is shown to callers, so it names the thing and holds no secret and no path. */
export class AppError extends Error {
  override readonly name = 'AppError';
  readonly code: ErrorCode;
  /** Seconds after which a retry makes sense; becomes the `Retry-After` header. */
  readonly retryAfter: number | undefined;

  constructor(code: ErrorCode, message: string, options?: ErrorOptions & { retryAfter?: number }) {
    super(message, options);
    this.code = code;
    this.retryAfter = options?.retryAfter;
  }
}

/** What a caller may see of any thrown value. Unplanned errors keep their message to themselves. */
export function describeError(error: unknown): { code: ErrorCode; message: string } {
  if (error instanceof AppError) return { code: error.code, message: redact(error.message) };
  return { code: 'internal', message: 'Internal error' };
}

/** The message of any thrown value, secrets removed: for tool answers and logs, where the reader may know the details. */
export function errorText(error: unknown): string {
  try {
    return redact(String(error instanceof Error ? error.message : error));
  } catch {
    return 'Something was thrown that has no text'; // such as an object without prototype
  }
}
