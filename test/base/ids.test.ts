import { expect, it } from 'vitest';
import { newId } from '../../src/base/ids.ts';

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

it('makes UUIDs of version 4, no two alike', () => {
  const ids = Array.from({ length: 5000 }, () => newId());

  expect(ids.filter((id) => !uuid.test(id))).toEqual([]);
  expect(new Set(ids).size).toBe(ids.length);
});

it('uses every digit in every place', () => {
  const seen = Array.from({ length: 36 }, () => new Set<string>());
  for (let count = 0; count < 2000; count += 1) Array.from(newId(), (digit, place) => seen[place]!.add(digit));

  const sizes = seen.map(({ size }, place) => [place, size]);
  const special = new Map([
    [8, 1],
    [13, 1],
    [14, 1],
    [18, 1],
    [19, 4],
    [23, 1],
  ]);
  expect(sizes).toEqual(sizes.map(([place]) => [place, special.get(place!) ?? 16]));
});

it('puts a prefix before the UUID', () => {
  const id = newId('e-');

  expect(id.slice(0, 2)).toBe('e-');
  expect(id.slice(2)).toMatch(uuid);
});
