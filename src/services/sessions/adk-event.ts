import { define, isJsonObject, type JsonObject } from '../../base/json.ts';
import { Event } from '../../schemas/event-schema.ts';
import { adkMs } from '../adk-time.ts';

// How ADK's relational schema keeps an event: one JSON object in the column `event_data`, its keys in snake_case but
// for the maps whose keys are data, its time in milliseconds.

/** Paths, in camelCase, below which keys are left alone: the list of ADK for TypeScript, and what is newer in that for Python. */
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

const toSnake = remembered((key) => key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`));
const toCamel = remembered((key) => key.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()));

/** The text of `event_data` for an event. */
export function toEventData(event: Event): string {
  const data = respell(event, '', toSnake) as JsonObject;
  data['timestamp'] = adkMs(event.timestamp);
  return JSON.stringify(data);
}

/**
 * The event in an `event_data`. ADK stores what agents make without a look at it: an author that is missing is made up,
 * and what is no event's is left out, for one odd field must not keep a whole session from being read. Throws a ZodError
 * or SyntaxError for what is no event.
 */
export function fromEventData(text: string): Event {
  const data = respell(JSON.parse(text), '', toCamel);
  if (isJsonObject(data))
    data['author'] ??= isJsonObject(data['content']) && data['content']['role'] === 'model' ? 'model' : 'user';
  for (;;) {
    const parsed = Event.safeParse(data);
    if (parsed.success) return parsed.data;
    const path = parsed.error.issues[0]?.path ?? [];
    if (!leaveOut(data, path)) throw parsed.error;
  }
}

/** Takes away what stands at a path; or, where nothing does and something should, what it is missed in. */
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

function respell(value: unknown, path: string, spell: (key: string) => string): unknown {
  if (Array.isArray(value)) return value.map((item) => respell(item, path, spell));
  if (!isJsonObject(value)) return value;
  const copy: JsonObject = {};
  for (const key of Object.keys(value)) {
    const below = path === '' ? toCamel(key) : `${path}.${toCamel(key)}`;
    define(copy, spell(key), dataPaths.has(below) ? value[key] : respell(value[key], below, spell));
  }
  return copy;
}

/** Keys repeat from event to event. Those a model made up do not, so there is an end to remembering. */
function remembered(spell: (key: string) => string): (key: string) => string {
  const known = new Map<string, string>();
  return (key) => {
    const found = known.get(key);
    if (found !== undefined) return found;
    const made = spell(key);
    if (known.size < 2000) known.set(key, made);
    return made;
  };
}
