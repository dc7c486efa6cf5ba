import { define, type JsonObject } from '../../base/json.ts';
import type { StateChange, StateChanges } from './session-tables.ts';
import { isRemoval, splitState } from './state-scopes.ts';

/** What a flat delta does to each scope it names. */
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
