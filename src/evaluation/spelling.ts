import { define, isJsonObject, type JsonObject } from '../base/json.ts';
import { snakeCase } from '../schemas/spelled.ts';

/** Keys whose values are somebody's data: what is below them is never renamed. */
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

/** What web UIs add to a conversation they edit: ADK refuses files that hold them. */
const dropped = new Set(['invocationIndex', 'toolUseIndex']);

/** The value as ADK's files spell it: keys of structures in snake_case, user data untouched. */
export function snakeSpelled(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(snakeSpelled);
  if (!isJsonObject(value)) return value;
  const copy: JsonObject = {};
  for (const [key, entry] of Object.entries(value)) {
    if (!dropped.has(key)) define(copy, snakeCase(key), opaque.has(key) ? entry : snakeSpelled(entry));
  }
  return copy;
}
