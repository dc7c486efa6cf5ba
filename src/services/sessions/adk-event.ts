import { define, isJsonObject, type JsonObject } from '../../base/json.ts';
import { Event } from '../../schemas/event-schema.ts';
import { adkMs } from '../adk-time.ts';

// An event in ADK's relational schema: one JSON object in the column `event_data`, with keys in snake_case except in maps
// whose keys are data, and the time in milliseconds.

/** Paths, in camelCase, below which keys do not change: the list of ADK for TypeScript, and the newer ones of ADK for Python. */
const dataPaths = new Set([
  'actions.stateDelta',
  'actions.artifactDelta',
  'actions.requestedAuthConfigs',
  'actions.requestedToolConfirmations',
  'actions.customMetadata',
  'actions.agentState',
  'actions.renderUiWidgets.payload',
  'actions.setModelResponse',
  'customMetadata',
  'content.parts.functionCall.args',
  'content.parts.functionResponse.response',
  'content.parts.partMetadata',
  'output',
  'route',
]);

const toSnake = memoized((key) => key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`));
const toCamel = memoized((key) => key.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()));

/** The `event_data` of an event. */
export function toEventData(event: Event): string {
  const data = renameKeys(event, '', toSnake) as JsonObject;
  data['timestamp'] = adkMs(event.timestamp);
  return JSON.stringify(data);
}

/**
 * The event in an `event_data`. ADK stores events without validation, and one invalid field must not make a whole session
 * unreadable: so a missing author gets a default, and invalid fields are left out. Throws a ZodError or SyntaxError for
 * anything else.
 */
export function fromEventData(text: string): Event {
  const data = renameKeys(JSON.parse(text), '', toCamel);
  if (isJsonObject(data))
    data['author'] ??= isJsonObject(data['content']) && data['content']['role'] === 'model' ? 'model' : 'user';
  for (;;) {
    const parsed = Event.safeParse(data);
    if (parsed.success) return parsed.data;
    const path = parsed.error.issues[0]?.path ?? [];
    if (!leaveOut(data, path)) throw parsed.error;
  }
}

/** Removes the value at a path; if a required value is missing there, removes the object that lacks it. */
function leaveOut(data: unknown, path: readonly PropertyKey[]): boolean {
  for (let length = path.length; length > 0; length -= 1) {
    const holder = path
      .slice(0, length - 1)
      .reduce<unknown>((value, key) => (value as Record<PropertyKey, unknown> | undefined)?.[key], data);
    const key = path[length - 1] as PropertyKey;
    if (Array.isArray(holder)) return holder.splice(Number(key), 1).length > 0;
    if (isJsonObject(holder) && holder[key as string] !== undefined) return delete holder[key as string];
  }
  return false;
}

function renameKeys(value: unknown, path: string, rename: (key: string) => string): unknown {
  if (Array.isArray(value)) return value.map((item) => renameKeys(item, path, rename));
  if (!isJsonObject(value)) return value;
  const copy: JsonObject = {};
  for (const key of Object.keys(value)) {
    const below = path === '' ? toCamel(key) : `${path}.${toCamel(key)}`;
    define(copy, rename(key), dataPaths.has(below) ? value[key] : renameKeys(value[key], below, rename));
  }
  return copy;
}

/** Caches results, because keys repeat from event to event. The cache is bounded, because models invent keys, too. */
function memoized(rename: (key: string) => string): (key: string) => string {
  const known = new Map<string, string>();
  return (key) => {
    const found = known.get(key);
    if (found !== undefined) return found;
    const made = rename(key);
    if (known.size < 2000) known.set(key, made);
    return made;
  };
}
