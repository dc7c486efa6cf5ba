import { expect, it } from 'vitest';
import { diskFailure } from '../../src/base/disk-failure.ts';

const failed = (code: string): Error => Object.assign(new Error('/secret/path'), { code });

it.each([
  ['ENOSPC', 'The disk of the server is full'],
  ['EROFS', 'The disk of the server cannot be written'],
  ['EFBIG', 'The disk of the server does not accept a file of this size'],
  ['EACCES', 'The disk of the server may not be used'],
])('takes %s for a disk that is unavailable, without its path', (code, message) => {
  expect(diskFailure(failed(code))).toMatchObject({ code: 'unavailable', message, retryAfter: 2 });
});

it('leaves all other errors alone', () => {
  expect([diskFailure(failed('ENOENT')), diskFailure(new Error('x')), diskFailure('x')]).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
});
