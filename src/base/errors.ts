import { redact } from './redact.ts';

/**
 * Every error that the server reports on purpose: a stable code, and its HTTP status.
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
  budget_exceeded: 429,
  too_many_runs: 429,
  too_many_streams: 429,
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
  identity_provider_unavailable: 503,
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

export interface AppErrorOptions extends ErrorOptions {
  readonly retryAfter?: number;
  readonly publicMessage?: string;
  readonly where?: string;
  readonly errorId?: string;
}

/** An expected error. Callers see its message, so the message names the thing and contains no secret and no path. */
export class AppError extends Error {
  override readonly name = 'AppError';
  readonly code: ErrorCode;
  /** Seconds after which a retry makes sense; becomes the `Retry-After` header. */
  readonly retryAfter: number | undefined;
  /**
   * The message without what an author's code threw, which is the cause then: callers who are not authors see this (see
   * `ErrorPolicy`). Absent: the message is for all.
   */
  readonly publicMessage: string | undefined;
  /** `file:line` of an author's code that threw. Only where callers may know. */
  readonly where: string | undefined;
  /** What the log calls the error that an author's code threw. */
  readonly errorId: string | undefined;

  constructor(code: ErrorCode, message: string, options: AppErrorOptions = {}) {
    super(message, options);
    this.code = code;
    this.retryAfter = options.retryAfter;
    this.publicMessage = options.publicMessage;
    this.where = options.where;
    this.errorId = options.errorId;
  }
}

/** What a caller may see of an error. The message ends with `where`, if there is one. */
export interface ShownError {
  readonly code: ErrorCode;
  readonly message: string;
  readonly where?: string;
  readonly errorId?: string;
}

/** What a caller may see of any thrown value. The message of an error that no `ErrorPolicy` has handled stays in the log. */
export function describeError(error: unknown): ShownError {
  if (!(error instanceof AppError)) return { code: 'internal', message: 'Internal error' };
  const { code, message, where, errorId } = error;
  return {
    code,
    message: redact(message),
    ...(where !== undefined && { where }),
    ...(errorId !== undefined && { errorId }),
  };
}

/** The event metadata of an error that an author's code threw; `undefined` for other errors. */
export const originFields = ({ where, errorId }: Partial<ShownError>): Record<string, string> | undefined =>
  where === undefined && errorId === undefined
    ? undefined
    : { ...(where !== undefined && { where }), ...(errorId !== undefined && { errorId }) };

/** The end of a message that names the place of an error. */
export const placeSuffix = (where: string): string => ` (at ${where})`;

/** The options of an error whose message is `what` and the thrown text. Callers who may not see the latter get `what` alone. */
export const causedBy = (thrown: unknown, what: string): AppErrorOptions =>
  thrown instanceof AppError && thrown.publicMessage === undefined
    ? { cause: thrown }
    : { cause: thrown instanceof AppError ? thrown.cause : thrown, publicMessage: what };

/** The log fields of an error: its id if it was logged already, else the error itself. */
export const loggedError = (error: unknown): { errorId: string } | { err: unknown } =>
  error instanceof AppError && error.errorId !== undefined ? { errorId: error.errorId } : { err: error };

/** The message of any thrown value without secrets: for tool responses and logs, whose readers may see details. */
export function errorText(error: unknown): string {
  try {
    return redact(String(error instanceof Error ? error.message : error));
  } catch {
    return 'The thrown value has no text'; // such as an object without prototype
  }
}
