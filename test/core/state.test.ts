import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { JsonObject } from '../../src/base/json.ts';
import { StateView } from '../../src/core/state.ts';

const key = fc.oneof(fc.string(), fc.constantFrom('__proto__', 'constructor', 'app:a', 'user:a', 'temp:a'));
const write = fc.tuple(key, fc.jsonValue());
const fold = (writes: readonly (readonly [string, unknown])[]): Map<string, unknown> => {
  const folded = new Map<string, unknown>();
  for (const [name, value] of writes) {
    if (value === null) folded.delete(name);
    else folded.set(name, value);
  }
  return folded;
};
/** What JSON carries: -0 becomes 0. */
const asJson = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

it('reads its own writes and notes each of them in the delta', () => {
  fc.assert(
    fc.property(fc.array(write), (writes) => {
      const base: JsonObject = {};
      const delta: JsonObject = {};
      const view = new StateView(base, delta);

      for (const [name, value] of writes) view.set(name, value);

      const expected = fold(writes);
      expect(new Set(Object.keys(base))).toEqual(new Set(expected.keys()));
      expect(new Set(Object.keys(delta))).toEqual(new Set(writes.map(([name]) => name)));
      for (const [name] of writes) {
        expect(view.has(name)).toBe(expected.has(name));
        expect(asJson([view.get(name)])).toEqual(asJson([expected.get(name)]));
        expect(asJson(delta[name] ?? null)).toEqual(asJson(expected.get(name) ?? null));
      }
      expect(Object.getPrototypeOf(base)).toBe(Object.prototype);
    }),
  );
});

it('answers the fallback for a key that is not there, members of the prototype included', () => {
  const view = new StateView({ no: false }, {});

  expect(view.get('missing')).toBeUndefined();
  expect(view.get('missing', 7)).toBe(7);
  expect(view.get('constructor', 'none')).toBe('none');
  expect(view.get('no', true)).toBe(false);
});

it('deletes by null, by undefined and by name, and says so in the delta', () => {
  const base: JsonObject = { a: 1, b: 2, c: 3 };
  const delta: JsonObject = {};
  const view = new StateView(base, delta);

  view.set('a', null);
  view.set('b', undefined);
  view.delete('c');

  expect(base).toEqual({});
  expect(delta).toEqual({ a: null, b: null, c: null });
});

it('stores what JSON would carry, apart from what the caller holds', () => {
  const base: JsonObject = {};
  const delta: JsonObject = {};
  const view = new StateView(base, delta);
  const value = { when: new Date(0), tags: new Set(['x']), none: undefined, list: [1] };

  view.set('value', value);
  value.list.push(2);

  const stored = { when: '1970-01-01T00:00:00.000Z', tags: ['x'], list: [1] };
  expect(base.value).toEqual(stored);
  expect(delta.value).toEqual(stored);
  expect(Object.isFrozen(base.value)).toBe(true);
});

it('hands out copies, so that a change needs a set', () => {
  const base: JsonObject = {};
  const view = new StateView(base, {});
  view.set('list', [1]);

  view.get<number[]>('list')?.push(2);
  (view.toObject().list as number[]).push(3);

  expect(base.list).toEqual([1]);
});

it('sets each key of an object and refuses what is no object', () => {
  const base: JsonObject = { a: 1 };
  const view = new StateView(base, {});

  view.update({ a: null, b: 2 });

  expect(base).toEqual({ b: 2 });
  expect(view.keys()).toEqual(['b']);
  for (const wrong of ['text', [1], null]) {
    expect(() => view.update(wrong as never)).toThrow(expect.objectContaining({ code: 'invalid_request' }) as Error);
  }
});
