import { expect, it } from 'vitest';
import type { Principal } from '../../src/core/principal.ts';
import { VerifiedTokens } from '../../src/identity/verified-tokens.ts';

const ada: Principal = {
  id: 'https://issuer.example|ada',
  userId: 'ada',
  actsForUsers: false,
  roles: new Set(['user']),
};
const checked = (keys = { generation: 1 }) => ({ principal: ada, untilMs: 1_000, keys, generation: 1 });

it('remembers a token until it expires', () => {
  const tokens = new VerifiedTokens();
  tokens.add('a', checked());

  expect(tokens.find('a', 999)).toBe(ada);
  expect(tokens.find('b', 0)).toBeUndefined();
  expect(tokens.find('a', 1_000)).toBeUndefined();
  expect(tokens.find('a', 0)).toBeUndefined();
});

it('forgets what was checked with other keys', () => {
  const tokens = new VerifiedTokens();
  const keys = { generation: 1 };
  tokens.add('a', checked(keys));
  keys.generation = 2;

  expect(tokens.find('a', 0)).toBeUndefined();
});

it('takes a bounded number of bytes, and forgets first what was not used for the longest time', () => {
  const tokens = new VerifiedTokens(10 * 1024);
  tokens.add('used', checked());
  for (let index = 0; index < 1_000; index += 1) {
    tokens.add(`token-${index}`, checked());
    expect(tokens.find('used', 0)).toBe(ada);
  }

  const kept = Array.from({ length: 1_000 }, (_, index) => tokens.find(`token-${index}`, 0)).filter(Boolean);
  expect(kept.length).toBeGreaterThan(5);
  expect(kept.length).toBeLessThan(17);
  expect(tokens.find('token-999', 0)).toBe(ada);
});

it('counts a token once that comes again', () => {
  const tokens = new VerifiedTokens(2 * 1024);
  tokens.add('first', checked());
  for (let index = 0; index < 100; index += 1) tokens.add('again', checked());

  expect(tokens.find('first', 0)).toBe(ada);
});
