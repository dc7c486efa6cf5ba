import { define, isJsonObject, type JsonObject } from '../base/json.ts';
import { snakeCase } from '../schemas/key-case.ts';

/** Keys whose values are user data: keys below them are never renamed. */
const opaque = new Set([
  'args',
  'response',
  'state',
  'stateDelta',
  'finalSessionState',
  'artifactDelta',
  'requestedAuthConfigs',
  'requestedToolConfirmations',
  'agentState',
  'output',
  'labels',
  'parameters',
  'customMetadata',
  'partMetadata',
  'prices',
  'setModelResponse',
]);

/** Keys that web UIs add to edited conversations: ADK rejects files with them. */
const dropped = new Set(['invocationIndex', 'toolUseIndex']);

/** The value in the spelling of ADK's files: keys of structures in snake_case, user data unchanged. */
export function withSnakeCaseKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withSnakeCaseKeys);
  if (!isJsonObject(value)) return value;
  const copy: JsonObject = {};
  for (const [key, entry] of Object.entries(value)) {
    if (!dropped.has(key)) define(copy, snakeCase(key), opaque.has(key) ? entry : withSnakeCaseKeys(entry));
  }
  return copy;
}
