import { STATUS_CODES } from 'node:http';
import { Socket } from 'node:net';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { ErrorPolicy } from '../../base/error-policy.ts';
import { AppError, describeError, type ErrorCode, httpStatus, loggedError } from '../../base/errors.ts';
import type { Log } from '../../core/log.ts';
import type { Problem } from '../../schemas/records.ts';
import { setCommonHeaders } from '../guards/common-headers.ts';
import { issuesOf } from '../validation.ts';
import { limitUnreadBody, useLingeringClose } from './lingering-close.ts';

export const problemType = 'application/problem+json';
const maxInstanceLength = 512;
/** Bytes of a refused body that are read to keep its connection open. */
const maxRest = 64 * 1024 * 1024;

/**
 * Sends every error thrown in Fastify as an RFC 9457 problem. Two kinds of errors are sent elsewhere: `client-errors.ts`
 * responds to data that Node could not parse as a request, and `sse.ts` sends an error on a stream that has begun.
 */
export function problemSender(log: Log, errors: ErrorPolicy) {
  return (thrown: unknown, request: FastifyRequest, reply: FastifyReply): void => {
    const error = thrown === request.raw.errored ? bodyBrokeOff(thrown) : errors.report(asAppError(thrown));
    const problem = { ...problemOf(error, request.url), requestId: request.id };
    const fields = { ...loggedError(error), requestId: request.id, route: request.routeOptions.url };
    if (error.errorId !== undefined) log.error(fields, 'request failed');
    else if (problem.status >= 500) log.warn(fields, 'request failed');
    if (reply.raw.headersSent) return; // the response broke off
    if (error.retryAfter !== undefined) reply.header('retry-after', error.retryAfter);
    if (error.code === 'unauthenticated') reply.header('www-authenticate', 'Bearer');
    if (!reply.hasHeader('x-request-id')) setCommonHeaders(request, reply, false); // Fastify ran no hook
    awaitRest(request, reply);
    reply
      .code(problem.status)
      .type(problemType)
      .send(Buffer.from(JSON.stringify(problem))); // as bytes: Fastify adds a charset to text
  };
}

/** Lets a client that is still sending receive the response: Fastify would close the connection with unread data. */
function awaitRest({ raw: { complete, headers, socket } }: FastifyRequest, reply: FastifyReply): void {
  reply.removeHeader('connection');
  if (complete || !(socket instanceof Socket)) return; // the latter when it is injected
  if (reply.raw.shouldKeepAlive && Number(headers['content-length']) <= maxRest) {
    limitUnreadBody(socket, reply.raw);
    return;
  }
  reply.header('connection', 'close');
  useLingeringClose(socket);
}

/** The error for a client that disconnected while sending. */
const bodyBrokeOff = (cause: unknown): AppError =>
  new AppError('invalid_request', 'The request body did not arrive whole', { cause });

/** The body of an error response. */
export function problemOf(error: unknown, url: string | undefined, statusInstead?: number): Problem {
  const { code, message, ...origin } = describeError(error);
  const status = statusInstead ?? httpStatus[code];
  const instance = url?.split('?', 1)[0]?.slice(0, maxInstanceLength);
  return {
    type: `urn:problem:${code}`,
    title: STATUS_CODES[status] ?? code.replaceAll('_', ' '),
    status,
    detail: message,
    ...(instance === undefined ? {} : { instance }),
    error: message,
    code,
    ...origin,
    ...(error instanceof AppError && error.cause instanceof z.ZodError ? { issues: issuesOf(error.cause) } : {}),
  };
}

/** The fields an error has on a stream that has begun: `error` for ADK clients, the others as in an event. */
export function errorFrame(error: AppError): object {
  const { code, message, ...origin } = describeError(error);
  return { error: message, errorCode: code, errorMessage: message, ...origin };
}

const fastifyCodes: Readonly<Record<string, readonly [ErrorCode, string]>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: ['too_large', 'The request body is too large'],
  FST_ERR_CTP_INVALID_MEDIA_TYPE: [
    'unsupported_media_type',
    'The Content-Type is not supported: JSON bodies need application/json',
  ],
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: ['invalid_request', 'The request body does not have its stated length'],
  FST_REQ_FILE_TOO_LARGE: ['too_large', 'A file is larger than 1,000,000 bytes'],
  FST_FILES_LIMIT: ['too_large', 'There are more than 50 files'],
  FST_PARTS_LIMIT: ['too_large', 'The form has too many parts'],
  FST_ERR_BAD_URL: ['invalid_request', 'The path is not a valid URL'],
  FST_ERR_MAX_PARAM_LENGTH: ['invalid_request', 'The path is too long'],
};

/** Fastify's own complaints in our words; everything else stays what it is. */
function asAppError(error: unknown): unknown {
  if (error instanceof AppError || !(error instanceof Error)) return error;
  const { code, statusCode } = error as { code?: unknown; statusCode?: unknown };
  const known = typeof code === 'string' ? fastifyCodes[code] : undefined;
  if (known) return new AppError(known[0], known[1], { cause: error });
  const isCallersFault = typeof statusCode === 'number' && statusCode >= 400 && statusCode < 500;
  if (isCallersFault) return new AppError('invalid_request', 'The request is not valid', { cause: error });
  return error;
}
