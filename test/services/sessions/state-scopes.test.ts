import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { JsonObject } from '../../../src/base/json.ts';
import {
  applyDelta,
  applyScopedDelta,
  mergeState,
  removedMarker,
  type ScopedState,
  splitState,
  withoutTemp,
} from '../../../src/services/sessions/state-scopes.ts';

const key = fc
  .tuple(
    fc.constantFrom('', 'app:', 'user:', 'temp:'),
    fc.oneof(fc.string(), fc.constantFrom('__proto__', 'constructor', 'toString', 'app:', 'user:x', 'temp:y')),
  )
  .map(([prefix, name]) => prefix + name);
const value = fc.oneof(fc.jsonValue(), fc.constantFrom(null, removedMarker));
/** Objects as JSON.parse makes them: any key is an own property. */
const state = fc
  .array(fc.tuple(key, value))
  .map((entries) => JSON.parse(JSON.stringify(Object.fromEntries(entries))) as JsonObject);
const empty = (): ScopedState => ({ app: {}, user: {}, session: {} });
const sorted = (object: JsonObject): [string, unknown][] =>
  Object.entries(object).toSorted(([a], [b]) => (a < b ? -1 : 1));

it('loses nothing but temp keys between split and merge', () => {
  fc.assert(
    fc.property(state, (flat) => {
      expect(sorted(mergeState(splitState(flat)))).toEqual(sorted(withoutTemp(flat)));
    }),
  );
});

it('folds deltas into scopes just as it folds them flat', () => {
  fc.assert(
    fc.property(fc.array(state), (deltas) => {
      const scoped = empty();
      const flat: JsonObject = {};
      for (const delta of deltas) {
        applyScopedDelta(scoped, delta);
        applyDelta(flat, withoutTemp(delta));
      }

      expect(sorted(mergeState(scoped))).toEqual(sorted(flat));
      expect(Object.values(flat)).not.toContain(null);
      expect(Object.values(flat)).not.toContain(removedMarker);
    }),
  );
});

it('keeps the last value written to each key', () => {
  fc.assert(
    fc.property(fc.array(state), (deltas) => {
      const folded: JsonObject = {};
      const model = new Map<string, unknown>();
      for (const delta of deltas) {
        applyDelta(folded, delta);
        for (const [name, written] of Object.entries(delta)) {
          if (written === null || written === removedMarker) model.delete(name);
          else model.set(name, written);
        }
      }

      expect(new Map(Object.entries(folded))).toEqual(model);
      expect(Object.getPrototypeOf(folded)).toBe(Object.prototype);
    }),
  );
});

it('returns the same object when there is no temp key to drop', () => {
  const delta = { a: 1, 'app:b': 2 };
  expect(withoutTemp(delta)).toBe(delta);
});
