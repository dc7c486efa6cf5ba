import { define, type JsonObject } from '../../base/json.ts';
import type { StateChange, StateChanges } from './session-tables.ts';

/** Other ADK runtimes write this into a delta to delete a key; `null` does the same. */
export const removedMarker = '__ADK_SENTINEL_REMOVED__';

/** Keys with this prefix last as long as the invocation and are never stored. */
const tempPrefix = 'temp:';
const appPrefix = 'app:';
const userPrefix = 'user:';

/** State by scope, with keys without prefix, as in the tables of an ADK database. `temp:` keys are left out. */
export interface ScopedState {
  readonly app: JsonObject;
  readonly user: JsonObject;
  readonly session: JsonObject;
}

export function splitState(state: JsonObject): ScopedState {
  const scoped: ScopedState = { app: {}, user: {}, session: {} };
  for (const key of Object.keys(state)) {
    if (key.startsWith(tempPrefix)) continue;
    if (key.startsWith(appPrefix)) define(scoped.app, key.slice(appPrefix.length), state[key]);
    else if (key.startsWith(userPrefix)) define(scoped.user, key.slice(userPrefix.length), state[key]);
    else define(scoped.session, key, state[key]);
  }
  return scoped;
}

/** One flat state, with prefixes. A new object with shared values. */
export function mergeState({ app, user, session }: ScopedState): JsonObject {
  const state = { ...session };
  for (const key of Object.keys(app)) state[appPrefix + key] = app[key];
  for (const key of Object.keys(user)) state[userPrefix + key] = user[key];
  return state;
}

/** Whether a value in a delta deletes its key. */
export const isRemoval = (value: unknown): boolean => value === null || value === undefined || value === removedMarker;

/** Writes a delta into a state in place. `null`, `undefined` and the removal marker delete their key. */
export function applyDelta(state: JsonObject, delta: JsonObject): void {
  for (const key of Object.keys(delta)) {
    const value = delta[key];
    if (isRemoval(value)) delete state[key];
    else define(state, key, value);
  }
}

/** Applies a flat delta to each of its scopes. */
export function applyScopedDelta(state: ScopedState, delta: JsonObject): void {
  const scoped = splitState(delta);
  applyDelta(state.app, scoped.app);
  applyDelta(state.user, scoped.user);
  applyDelta(state.session, scoped.session);
}

/** The state or delta without `temp:` keys: the same object if it has none. */
export function withoutTemp(state: JsonObject): JsonObject {
  const keys = Object.keys(state);
  if (!keys.some((key) => key.startsWith(tempPrefix))) return state;
  const kept: JsonObject = {};
  for (const key of keys) if (!key.startsWith(tempPrefix)) define(kept, key, state[key]);
  return kept;
}

/** The changes of a flat delta, by scope. */
export function stateChanges(delta: JsonObject): StateChanges {
  const { app, user, session } = splitState(delta);
  return { app: changeOf(app), user: changeOf(user), session: changeOf(session) };
}

function changeOf(delta: JsonObject): StateChange | undefined {
  const keys = Object.keys(delta);
  if (keys.length === 0) return undefined;
  const removed: string[] = [];
  const set: JsonObject = {};
  for (const key of keys) {
    if (isRemoval(delta[key])) removed.push(key);
    else define(set, key, delta[key]);
  }
  return { removed, set };
}
