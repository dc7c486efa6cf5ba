import fc from 'fast-check';
import { expect, it } from 'vitest';
import { AppError, describeError, errorText } from '../../src/base/errors.ts';
import { redact } from '../../src/base/redact.ts';

// Put together at run time, so that no scanner takes this file for a leak.
const join = (...parts: string[]): string => parts.join('');
const secrets = [
  join('AIza', 'SyA-1234567890abcdefghijklmnopqrstuv'),
  join('ya29', '.a0AfH6SMBxyz_1234567890'),
  join('sk-', 'ant-api03-abcdefghijklmnop'),
  join('sk_', 'live_1234567890abcdef'),
  join('ask_', '0123456789abcdef_abcdefghij-klmnopqrstuvwxyz_1234567890ABC'),
  join('ghp_', '1234567890abcdefghij'),
  join('xoxb-', '1234567890-abcdef'),
  join('AKIA', 'IOSFODNN7EXAMPLE'),
  join('eyJ', 'hbGciOiJIUzI1NiJ9', '.eyJzdWIiOiIxIn0', '.c2lnbmF0dXJl'),
  join('-----BEGIN RSA PRIVATE', ' KEY-----\nMIIEow\n-----END RSA PRIVATE KEY-----'),
];

it('takes out credentials of every provider, wherever they stand', () => {
  for (const secret of secrets) {
    for (const text of [
      secret,
      `key ${secret} is wrong`,
      `{"error":"bad ${secret}"}`,
      `https://x.y/?q=1&k=${secret}`,
    ]) {
      expect(redact(text)).not.toContain(secret);
    }
  }
});

it('takes out values by the name before them', () => {
  expect(redact('Authorization: Bearer abcdefghijkl')).not.toContain('abcdefghijkl');
  expect(redact('https://host/v1?key=abcdef123&alt=sse')).toBe('https://host/v1?key=[redacted]&alt=sse');
  expect(redact('postgres://ada:pa55word@host/db')).toBe('postgres://ada:[redacted]@host/db');
  expect(redact('{"client_secret": "abcd1234", "id": 1}')).toBe('{"client_secret": "[redacted]", "id": 1}');
  expect(redact('x-goog-api-key: abcd1234')).not.toContain('abcd1234');
});

it('leaves ordinary text alone, and text it has been over', () => {
  const text = 'Session not found: s1; tokens: 12, see https://example.com/a?page=2';

  expect(redact(text)).toBe(text);
  for (const secret of secrets) expect(redact(redact(`a ${secret} b`))).toBe(redact(`a ${secret} b`));
});

it('finds a credential in the middle of any text', () => {
  const around = fc.string({ unit: 'binary' });
  fc.assert(
    fc.property(around, fc.constantFrom(...secrets), around, (before, secret, after) => {
      expect(redact(`${before} ${secret} ${after}`)).not.toContain(secret);
    }),
  );
});

it.each([0, 60_000, 65_520, 70_000])('finds credentials in texts of any length, %d characters in', (at) => {
  const key = `-----BEGIN PRIVATE KEY-----\n${'QUJD\n'.repeat(400)}-----END PRIVATE KEY-----`;
  for (const secret of [...secrets, key]) {
    const text = `${'word '.repeat(at / 5)}${secret} ${'word '.repeat(30_000)}`;
    expect(redact(text)).toBe(text.replace(secret, redact(secret)));
    expect(redact(text)).not.toContain(secret);
  }
});

it.each(['sk-', 'eyJ-', 'eyJaaaaaaaa-', '://', 'x'])('gets through ten million characters of %j', (piece) => {
  expect(redact(piece + piece.repeat(10_000_000 / piece.length))).toMatch(/\S/);
  expect(redact(piece + 'x'.repeat(10_000_000))).toMatch(/\S/);
});

it('shows a caller what was foreseen and nothing of what was not', () => {
  expect(describeError(new AppError('session_not_found', 'Session not found: s1'))).toEqual({
    code: 'session_not_found',
    message: 'Session not found: s1',
  });
  expect(describeError(new AppError('model_failed', `bad key ${secrets[0]}`)).message).toBe('bad key [redacted]');
  expect(describeError(new Error('/home/ada/app.ts broke'))).toEqual({ code: 'internal', message: 'Internal error' });
  expect(describeError('text')).toEqual({ code: 'internal', message: 'Internal error' });
});

it('gives those who may know the message of anything thrown, without its secrets', () => {
  expect(errorText(new Error(`no ${secrets[0]}`))).toBe('no [redacted]');
  expect(errorText('plain')).toBe('plain');
  expect(errorText(undefined)).toBe('undefined');
  expect(errorText(Object.create(null))).toMatch(/no text/);
});
