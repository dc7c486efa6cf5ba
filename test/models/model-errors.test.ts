import { expect, it } from 'vitest';
import { modelError, retryAfterOf, transportError } from '../../src/models/model-errors.ts';

it.each([
  [{ status: 400 }, 'CLIENT_ERROR'],
  [{ status: 400, providerCode: 'API_KEY_INVALID' }, 'AUTH_ERROR'],
  [{ status: 401 }, 'AUTH_ERROR'],
  [{ status: 408 }, 'TIMEOUT_ERROR'],
  [{ status: 429, providerCode: 'invalid_request_error' }, 'RATE_LIMITED'],
  [{ status: 500, message: 'quota exceeded' }, 'SERVER_ERROR'],
  [{ status: 529, providerCode: 'overloaded_error' }, 'SERVER_ERROR'],
  [{ providerCode: 'overloaded_error' }, 'SERVER_ERROR'],
  [{ providerCode: 'DEADLINE_EXCEEDED' }, 'TIMEOUT_ERROR'],
  [{ message: 'Too Many Requests' }, 'RATE_LIMITED'],
  [{ message: 'the connection timed out' }, 'TIMEOUT_ERROR'],
  [{ message: 'Could not load the default credentials' }, 'AUTH_ERROR'],
  [{ message: 'Incomplete JSON segment at the end' }, 'NETWORK_ERROR'],
  [{ message: 'invalid 400 constructor' }, 'UNKNOWN_ERROR'],
  [{ providerCode: 'constructor' }, 'UNKNOWN_ERROR'],
])('puts %j under %s', (failure, category) => {
  expect(modelError({ message: 'm', ...failure }).category).toBe(category);
});

const coded = (code: string, message = 'm'): Error => Object.assign(new Error(message), { code });

it.each([
  [new TypeError('fetch failed', { cause: coded('ECONNREFUSED') }), 'NETWORK_ERROR'],
  [new TypeError('fetch failed', { cause: new AggregateError([coded('ENOTFOUND')]) }), 'NETWORK_ERROR'],
  [new TypeError('terminated', { cause: coded('UND_ERR_SOCKET') }), 'NETWORK_ERROR'],
  [new TypeError('fetch failed', { cause: coded('UND_ERR_HEADERS_TIMEOUT') }), 'TIMEOUT_ERROR'],
  [new DOMException('slow', 'TimeoutError'), 'TIMEOUT_ERROR'],
  [new SyntaxError('Expected }'), 'NETWORK_ERROR'],
  [coded('ERR_INVALID_URL', 'bad'), 'UNKNOWN_ERROR'],
  ['just a text', 'UNKNOWN_ERROR'],
])('puts %s under %s', (error, category) => {
  expect(transportError(error).category).toBe(category);
});

it('says what happened in one line, without secrets and without end', () => {
  const message = modelError({
    message: `key  mine-it-is\n${'x'.repeat(9_000)}`,
    status: 401,
    secrets: ['mine-it-is'],
  }).message;

  expect(message).toMatch(/^Not authorized by the model provider: key \[redacted\] x+ …$/);
  expect(message.length).toBeLessThan(2_100);
});

it.each([
  [{ 'retry-after': '3' }, 3],
  [{ 'retry-after': '0.5' }, 0.5],
  [{ 'retry-after-ms': '250', 'retry-after': '9' }, 0.25],
  [{ 'retry-after': 'Thu, 01 Jan 1970 00:00:12 GMT' }, 2],
  [{ 'retry-after': 'Thu, 01 Jan 1970 00:00:02 GMT' }, 0],
  [{ 'retry-after': '-3' }, 0],
  [{ 'retry-after': 'soon' }, undefined],
  [{}, undefined],
])('reads %j as %s seconds', (headers, expected) => {
  expect(retryAfterOf(new Headers(headers as Record<string, string>), 10_000)).toBe(expected);
});
