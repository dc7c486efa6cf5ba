import { expect, it } from 'vitest';
import { errorPolicy } from '../../src/base/error-policy.ts';
import { AppError, causedBy, describeError } from '../../src/base/errors.ts';

interface Logged {
  readonly err: unknown;
  readonly errorId: string;
}

function policies() {
  const logged: Logged[] = [];
  const log = { error: (fields: object) => void logged.push(fields as Logged) };
  const folders = ['/apps', '/home/ada'];
  return {
    author: errorPolicy({ showsThrown: true, folders, log }),
    other: errorPolicy({ showsThrown: false, folders, log }),
    logged,
  };
}

const thrown = (
  message: string,
  at = 'run (file:///apps/shop/agent.ts?app-module=1.4:12:3)',
  Kind = TypeError,
): Error => Object.assign(new Kind(message), { stack: `TypeError: ${message}\n    at ${at}` });

it('tells the author name, message and place', () => {
  const { author } = policies();
  expect(describeError(author.report(thrown('x is not a function')))).toEqual({
    code: 'internal',
    message: 'TypeError: x is not a function (at shop/agent.ts:12)',
    where: 'shop/agent.ts:12',
    errorId: expect.any(String),
  });
});

it('tells others an id that the log explains', () => {
  const { other, logged } = policies();
  const error = thrown('password=hunter22');
  const { errorId } = other.report(error);

  expect(describeError(other.report(error))).toEqual({
    code: 'internal',
    message: `Internal error (id ${errorId})`,
    errorId,
  });
  expect(logged).toEqual([{ err: error, errorId }]);
});

it('gives an error one id, wherever and however often it is reported', () => {
  const { author, logged } = policies();
  const error = thrown('boom');
  const first = author.report(error);
  const wrapped = author.report(
    new AppError('internal', 'Plugin "p" failed: boom', causedBy(error, 'Plugin "p" failed')),
  );

  expect(author.report(error)).toBe(first);
  expect(author.report(first)).toBe(first);
  expect(wrapped.errorId).toBe(first.errorId);
  expect(logged).toHaveLength(1);
});

it('removes secrets from what an author reads', () => {
  const { author } = policies();
  const error = thrown('the key AIzaSyA1234567890 is refused', 'run (file:///apps/AIzaSyA1234567890/agent.ts:1:1)');
  error.cause = new Error('Bearer abcdefgh12345678');
  const shown = JSON.stringify([describeError(author.report(error)), author.detail(error)]);

  expect(shown).toContain('[redacted]');
  expect(shown).not.toMatch(/AIzaSyA|abcdefgh12345678/);
});

it.each([
  ['/apps/shop/agent.ts', 'shop/agent.ts'],
  ['/home/ada/server.ts', 'server.ts'],
  ['/appstore/agent.ts', '/appstore/agent.ts'],
])('names %s as %s', (file, name) => {
  const { author } = policies();
  expect(author.report(thrown('boom', `run (${file}:7:1)`)).where).toBe(`${name}:7`);
});

it('tells of causes', () => {
  const { author } = policies();
  const error = thrown('fetch failed');
  error.cause = new Error('connect ECONNREFUSED');
  expect(author.report(error).message).toBe(
    'TypeError: fetch failed (cause: Error: connect ECONNREFUSED) (at shop/agent.ts:12)',
  );
});

it.each([
  ['plain text', 'Something that is not an Error was thrown: plain text'],
  [undefined, 'Something that is not an Error was thrown: undefined'],
  [Object.create(null), 'The thrown value has no text'],
  [Object.assign(new Error('no stack'), { stack: undefined }), 'Error: no stack'],
  [Object.assign(new Error(''), { stack: undefined }), 'Error'],
])('tells of %o, which has no place', (value, message) => {
  const { author, other } = policies();
  const shown = describeError(author.report(value));
  expect(shown.message).toContain(message);
  expect(shown).not.toHaveProperty('where');
  expect(other.report(value).message).toMatch(/^Internal error \(id [\w-]+\)$/);
});

it('survives an error whose properties throw', () => {
  const { author } = policies();
  const hostile = new Error('boom');
  const refuse = (): never => {
    throw new Error('no');
  };
  Object.defineProperties(hostile, { name: { get: refuse }, stack: { get: refuse }, cause: { get: refuse } });
  expect(author.report(hostile).code).toBe('internal');
  expect(author.detail(hostile)).toMatchObject({ message: 'boom' });
});

it('leaves errors of ours as they are', () => {
  const { author, other, logged } = policies();
  const ours = new AppError('session_not_found', 'Session not found: s');
  expect(author.report(ours)).toBe(ours);
  expect(other.report(ours)).toBe(ours);
  expect(logged).toEqual([]);
});

it('adds the place to an AppError with which code of an author fails', () => {
  const { author, other } = policies();
  const error = new AppError('agent_failed', 'No stock', { retryAfter: 3 });
  error.stack = 'AppError: No stock\n    at run (file:///apps/shop/agent.ts:4:5)';
  expect(author.report(error)).toMatchObject({
    code: 'agent_failed',
    message: 'No stock (at shop/agent.ts:4)',
    where: 'shop/agent.ts:4',
    retryAfter: 3,
  });
  expect(other.report(error)).toBe(error);
});

it('keeps what failed, and hides what was thrown, of an error that says both', () => {
  const { author, other } = policies();
  const what = 'Plugin "audit" failed in beforeTool';
  const error = new AppError('internal', `${what}: boom`, causedBy(thrown('boom'), what));
  expect(author.report(error).message).toBe(`${what}: TypeError: boom (at shop/agent.ts:12)`);
  expect(other.report(error).message).toMatch(new RegExp(`^${what} \\(id [\\w-]+\\)$`));
});

it('calls a disk that is full a disk that is full', () => {
  const { author } = policies();
  const full = Object.assign(new Error('ENOSPC: no space left'), { code: 'ENOSPC', stack: 'Error: ENOSPC' });
  expect(author.report(full)).toMatchObject({ code: 'unavailable', message: 'The disk of the server is full' });
});

it('gives details to authors only, and none of errors of ours', () => {
  const { author, other } = policies();
  expect(author.detail(thrown('boom'))).toEqual({ name: 'TypeError', message: 'boom', where: 'shop/agent.ts:12' });
  expect(author.detail('text')).toEqual({ message: 'text' });
  expect(other.detail(thrown('boom'))).toBeUndefined();
  const ours = Object.assign(new AppError('timed_out', 'late'), { stack: 'AppError: late' });
  expect(author.detail(ours)).toBeUndefined();
});

it('reports what it has reported as it is, even of what is no object', () => {
  const { author, other } = policies();
  for (const policy of [author, other]) {
    const report = policy.report('text');
    expect(policy.report(report)).toBe(report);
  }
});
