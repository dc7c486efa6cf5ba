import { AppError } from '../../base/errors.ts';
import type { JsonObject } from '../../base/json.ts';
import { roughSize } from '../../base/rough-size.ts';
import { isRemoval } from './state-scopes.ts';

/** Keys in the state of a session, including its user's and its app's. */
const maxKeys = 50_000;
/** Keys that one event may write: each is copied several times. */
const maxWritten = 10_000;
/** Approximate characters of all keys and values as JSON. */
const maxLength = 16_000_000;

/** Lengths of top-level values. Values are frozen, so each is measured once. Nested values are not cached: there may be many. */
const lengths = new WeakMap<object, number>();

/** Throws `too_large` for a state beyond the limits: each read and each run copies it, and responses contain all of it. */
export function checkState(state: JsonObject): void {
  const keys = Object.keys(state);
  if (keys.length > maxKeys) throw tooManyKeys();
  if (sumOf(keys, state) > maxLength) throw tooLong();
}

/** Throws `too_large` when a delta writes too much, or lets the state grow beyond its limits. */
export function checkDelta(state: JsonObject, delta: JsonObject): void {
  let writes = false;
  for (const key in delta) writes ||= !isRemoval(delta[key]);
  if (!writes) return; // most deltas are empty
  const written = Object.keys(delta).filter((key) => !isRemoval(delta[key]));
  if (written.length > maxWritten) {
    throw new AppError('too_large', `An event may write at most ${maxWritten} keys of the state`);
  }
  const kept = Object.keys(state).filter((key) => !Object.hasOwn(delta, key));
  if (kept.length + written.length > maxKeys) throw tooManyKeys();
  if (sumOf(kept, state) + sumOf(written, delta) > maxLength) throw tooLong();
}

const tooManyKeys = (): AppError =>
  new AppError('too_large', `The state of a session may have at most ${maxKeys} keys`);
const tooLong = (): AppError =>
  new AppError('too_large', `The state of a session may take at most ${maxLength / 1_000_000} MB`);

const sumOf = (keys: readonly string[], values: JsonObject): number =>
  keys.reduce((sum, key) => sum + key.length + lengthOf(values[key]), 0);

/** Approximate characters of a value as JSON. */
function lengthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return roughSize(value);
  const known = lengths.get(value);
  if (known !== undefined) return known;
  const length = roughSize(value);
  if (Object.isFrozen(value)) lengths.set(value, length);
  return length;
}
