import { AppError } from '../base/errors.ts';
import { deepFreeze, define, isJsonObject, type JsonObject, toJson } from '../base/json.ts';

/**
 * A session's state for one callback or tool. Reads see earlier writes, and every write also goes into the `delta` of the
 * event. `get` returns a private copy: change it, then `set` it.
 */
export class StateView {
  readonly #base: JsonObject;
  readonly #delta: JsonObject;

  /** `base` is the live session state, which writes change at once; `delta` is the event's `actions.stateDelta`. */
  constructor(base: JsonObject, delta: JsonObject) {
    this.#base = base;
    this.#delta = delta;
  }

  get<T = unknown>(key: string): T | undefined;
  get<T>(key: string, fallback: T): T;
  get(key: string, fallback?: unknown): unknown {
    if (!Object.hasOwn(this.#base, key)) return fallback;
    const value = this.#base[key];
    return typeof value === 'object' && value !== null ? structuredClone(value) : value;
  }

  has(key: string): boolean {
    return Object.hasOwn(this.#base, key);
  }

  /** Stores a JSON value. `null` and `undefined` delete the key. */
  set(key: string, value: unknown): void {
    const stored = deepFreeze(toJson(value)) ?? null;
    define(this.#delta, key, stored);
    if (stored === null) delete this.#base[key];
    else define(this.#base, key, stored);
  }

  delete(key: string): void {
    this.set(key, null);
  }

  /** Sets every key of an object. */
  update(values: JsonObject): void {
    if (!isJsonObject(values)) throw new AppError('invalid_request', 'A state update must be an object');
    for (const [key, value] of Object.entries(values)) this.set(key, value);
  }

  keys(): string[] {
    return Object.keys(this.#base);
  }

  /** A copy of all values. */
  toObject(): JsonObject {
    return structuredClone(this.#base);
  }
}
