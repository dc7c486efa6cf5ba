import { define, isJsonObject, type JsonObject } from '../../base/json.ts';
import { type EventActions, newActions } from '../../schemas/event.ts';

/**
 * The actions of several tool calls as those of one event, in call order: later values win, state is merged key by key
 * all the way down, and of an artifact saved twice the newer version counts.
 */
export function mergeActions(all: readonly EventActions[]): EventActions {
  const [only] = all;
  if (only && all.length === 1) return only;
  const merged = newActions();
  for (const actions of all) {
    const { stateDelta, artifactDelta, requestedAuthConfigs, requestedToolConfirmations, ...rest } = actions;
    mergeInto(merged.stateDelta, stateDelta);
    for (const [name, version] of Object.entries(artifactDelta)) {
      const known = Object.hasOwn(merged.artifactDelta, name) ? merged.artifactDelta[name] : undefined;
      define(merged.artifactDelta, name, Math.max(version, known ?? version));
    }
    addAll(merged.requestedAuthConfigs, requestedAuthConfigs);
    addAll(merged.requestedToolConfirmations, requestedToolConfirmations);
    const endOfAgent = merged.endOfAgent || rest.endOfAgent;
    Object.assign(merged, rest);
    if (endOfAgent) merged.endOfAgent = true;
  }
  return merged;
}

function addAll(target: JsonObject, source: JsonObject): void {
  for (const [key, value] of Object.entries(source)) define(target, key, value);
}

function mergeInto(target: JsonObject, source: JsonObject): void {
  for (const [key, value] of Object.entries(source)) {
    const known = Object.hasOwn(target, key) ? target[key] : undefined;
    if (!isJsonObject(known) || !isJsonObject(value)) {
      define(target, key, value);
      continue;
    }
    const both = { ...known };
    mergeInto(both, value);
    define(target, key, both);
  }
}
