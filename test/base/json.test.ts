import fc from 'fast-check';
import { expect, it } from 'vitest';
import { deepFreeze, define, isJsonObject, toJson } from '../../src/base/json.ts';

it('copies any JSON value as it is', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const text = JSON.stringify(value);
      const parsed: unknown = JSON.parse(text);

      expect(JSON.stringify(toJson(parsed))).toBe(text);
    }),
  );
});

it('turns anything into a value that JSON carries unchanged', () => {
  const anything = fc.anything({
    withBigInt: true,
    withDate: true,
    withMap: true,
    withSet: true,
    withTypedArray: true,
    withNullPrototype: true,
    withSparseArray: true,
  });
  fc.assert(
    fc.property(anything, (value) => {
      const json = toJson(value);
      if (json === undefined) return;

      expect(JSON.stringify(JSON.parse(JSON.stringify(json)))).toBe(JSON.stringify(json));
    }),
  );
});

it('replaces what JSON cannot carry', () => {
  const loop: { self?: unknown } = {};
  loop.self = loop;
  const shared = { a: 1 };

  expect(
    toJson({
      big: 10n,
      nan: NaN,
      fn: () => 1,
      symbol: Symbol('x'),
      gone: undefined,
      list: [undefined, () => 1],
      map: new Map<unknown, unknown>([
        ['k', new Set([1])],
        [7, 'seven'],
        [{ a: 1 }, 'object'],
        [Object.create(null), 'bare'],
        [() => 1, 'function'],
      ]),
      bytes: new Uint8Array([104, 105]),
      error: new TypeError('bad'),
      date: new Date(0),
      loop,
      twice: [shared, shared],
    }),
  ).toEqual({
    big: '10',
    nan: null,
    list: [null, null],
    map: { k: [1], 7: 'seven', '{"a":1}': 'object', '{}': 'bare', function: 'function' },
    bytes: 'aGk=',
    error: { name: 'TypeError', message: 'bad' },
    date: '1970-01-01T00:00:00.000Z',
    loop: { self: '[circular]' },
    twice: [{ a: 1 }, { a: 1 }],
  });
});

it('freezes all the way down', () => {
  const value = deepFreeze({ a: [{ b: 1 }], c: null });

  expect(Object.isFrozen(value)).toBe(true);
  expect(Object.isFrozen(value.a)).toBe(true);
  expect(Object.isFrozen(value.a[0])).toBe(true);
});

it('sets a key named __proto__ as a plain property', () => {
  const target = {};

  define(target, '__proto__', { polluted: true });

  expect(Object.keys(target)).toEqual(['__proto__']);
  expect(Object.getPrototypeOf(target)).toBe(Object.prototype);
  expect(JSON.stringify(target)).toBe('{"__proto__":{"polluted":true}}');
});

it('tells JSON objects from arrays, classes and null', () => {
  expect([{}, Object.create(null), JSON.parse('{"__proto__":1}')].every(isJsonObject)).toBe(true);
  expect([null, [], new Date(), new Map(), 'x', 1, undefined].some(isJsonObject)).toBe(false);
});
