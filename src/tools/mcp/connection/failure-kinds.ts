import { STATUS_CODES } from 'node:http';
import { AppError } from '../../../base/errors.ts';

/** The meaning of a failed request to an MCP server. */
export interface McpFailure {
  /** A predicate whose subject is the server: "ended the connection". */
  readonly reason: string;
  /** The session is lost: do not use it again. */
  readonly isLost: boolean;
  /** A timeout, of the server or only of the tool: ping the server before the session is used again. */
  readonly isSuspect: boolean;
  /** The server cannot have received the request, so that it may be sent again. */
  readonly isUnsent: boolean;
}

/** JSON-RPC error code of our own response to a request whose connection was lost. */
export const connectionCut = -32_098;

const plain = { isLost: false, isSuspect: false, isUnsent: false };

/** Classifies errors of the SDK, of fetch and of child processes. By code, not by class: the SDK is loaded on first use only. */
export function failureOf(error: unknown): McpFailure {
  if (!(error instanceof Error)) return { ...plain, reason: `failed: ${String(error)}` };
  const code: unknown = 'code' in error ? error.code : undefined;
  if (code === 'timed_out') return { ...plain, isSuspect: true, reason: 'did not answer in time' };
  const status = httpStatusOf(error, code);
  if (status !== undefined) return statusFailure(status);
  if (error.name === 'UnauthorizedError') return statusFailure(401);
  if (code === connectionCut || code === 'CONNECTION_CLOSED')
    return { ...plain, isLost: true, reason: 'ended the connection' };
  if (code === 'REQUEST_TIMEOUT') return { ...plain, isSuspect: true, reason: `did not answer${withinOf(error)}` };
  if (code === 'NOT_CONNECTED' || error.message === 'Not connected') return notConnected;
  // An event source has only the message of the error that its fetch threw.
  const refused = /"[^"]+" is not on the public internet/.exec(error.message)?.[0];
  if (refused !== undefined)
    return { ...plain, isLost: true, isUnsent: true, reason: `may not be contacted: ${refused}` };
  if (typeof code === 'number') return { ...plain, reason: `answered with error ${code}: ${error.message}` };
  if (typeof code === 'string' && 'syscall' in error && String(error.syscall).startsWith('spawn')) {
    return { ...plain, isLost: true, isUnsent: true, reason: `could not be started (${code})` };
  }
  const network = networkCode(error);
  if (network !== undefined) {
    const isUnsent = unsentCodes.has(network);
    const reason = `${isUnsent ? 'could not be reached' : 'ended the connection'} (${network})`;
    return { ...plain, isLost: true, isUnsent, reason };
  }
  return { ...plain, reason: `failed: ${error.message}` };
}

const notConnected: McpFailure = { ...plain, isLost: true, isUnsent: true, reason: 'is not connected' };

/** The time limit, which the SDK's error contains. */
function withinOf(error: Error): string {
  const data: unknown = 'data' in error ? error.data : undefined;
  const hasTimeout = typeof data === 'object' && data !== null && 'timeout' in data && typeof data.timeout === 'number';
  return hasTimeout ? ` within ${Number(data.timeout) / 1000} s` : ' in time';
}

/** Errors that occur before a request is sent. */
const unsentCodes = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
]);

function statusFailure(status: number): McpFailure {
  const reason = `answered with HTTP status ${status} (${STATUS_CODES[status] ?? 'unknown'})`;
  // For an unknown session servers answer 404, as the protocol says, or 400.
  const isForgotten = status === 404 || status === 400;
  return { ...plain, isLost: isForgotten, isUnsent: isForgotten, reason };
}

function httpStatusOf(error: Error, code: unknown): number | undefined {
  if ('status' in error && typeof error.status === 'number') return error.status;
  const posted = /^Error POSTing to endpoint \(HTTP (\d{3})\)/.exec(error.message);
  if (posted) return Number(posted[1]);
  return error.message.startsWith('SSE error: ') && typeof code === 'number' ? code : undefined;
}

/** The network error: in the `cause` of fetch's "fetch failed", in the message of an event source's error. */
function networkCode(error: Error): string | undefined {
  if (error.message.startsWith('SSE error: '))
    return /\b(?:E[A-Z_]{3,}|UND_ERR_[A-Z_]+)\b/.exec(error.message)?.[0] ?? 'lost';
  if (!(error instanceof TypeError)) return undefined;
  const { cause } = error;
  if (cause instanceof Error && 'code' in cause && typeof cause.code === 'string') return cause.code;
  return error.message.startsWith('fetch failed') ? 'fetch failed' : undefined;
}

export type McpErrorCode =
  | 'McpInitializationException'
  | 'McpSessionInitializationException'
  | 'McpToolLoadingException'
  | 'McpToolDeclarationException'
  | 'McpToolsetException';

/** An AppError for a failure of a server. AppErrors stay unchanged, except `timed_out`. */
export function mcpError(code: McpErrorCode, server: string, error: unknown): AppError {
  if (error instanceof AppError && error.code !== 'timed_out') return error;
  if (error instanceof AppError) return new AppError(code, error.message, { cause: error });
  return new AppError(code, `The MCP server "${server}" ${failureOf(error).reason}`, { cause: error });
}
