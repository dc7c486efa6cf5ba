import { expect, it } from 'vitest';
import { newUuid } from '../../src/base/uuid.ts';

it('makes random UUIDs of version 4, all different', () => {
  const ids = Array.from({ length: 2_000 }, newUuid);

  for (const id of ids) expect(id).toMatch(/^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/);
  expect(new Set(ids).size).toBe(ids.length);
});

it('uses every random bit that the version leaves free', () => {
  const seen = Array.from({ length: 32 }, () => new Set<string>());

  for (let count = 0; count < 2_000; count += 1) {
    const id = newUuid().replaceAll('-', '');
    for (let place = 0; place < 32; place += 1) seen[place]?.add(id.charAt(place));
  }

  expect(seen.map(({ size }) => size)).toEqual(
    Array.from({ length: 32 }, (_, place) => (place === 12 ? 1 : place === 16 ? 4 : 16)),
  );
});
