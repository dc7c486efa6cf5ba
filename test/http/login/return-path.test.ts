import fc from 'fast-check';
import { expect, it } from 'vitest';
import { returnPath } from '../../../src/http/login/return-path.ts';

it.each([
  ['/dev-ui/', '/dev-ui/'],
  ['/prefix/dev-ui/apps/a%2Fb?t=1#x', '/prefix/dev-ui/apps/a%2Fb?t=1#x'],
  ['/a/../b', '/b'],
])('returns to %s', (text, path) => {
  expect(returnPath(text)).toBe(path);
});

it.each([
  '',
  'dev-ui',
  'https://evil.example',
  '//evil.example',
  '/\\evil.example',
  '\\\\evil.example',
  '/\t/evil.example',
  '/\n/evil.example',
  '/..//evil.example',
  '/.//evil.example',
  '/a/..//evil.example',
  '/%2e%2e//evil.example',
  'javascript:alert(1)',
])('does not return to %j', (text) => {
  expect(() => returnPath(text)).toThrow('must be a path of this server');
});

it('never leads to another origin', () => {
  const piece = fc.constantFrom('/', '\\', '.', '..', '%2e', '\t', '\n', '@', ':', '?', '#', 'evil.example', 'a');
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 8 }), (pieces) => {
      let path: string;
      try {
        path = returnPath(pieces.join(''));
      } catch {
        return;
      }
      expect(new URL(path, 'https://own.example/auth/callback').origin).toBe('https://own.example');
    }),
    { numRuns: 2_000 },
  );
});
