import { isJsonObject, type JsonObject } from '../../../base/json.ts';
import { markImported } from '../../../core/events/imported-events.ts';
import { Event } from '../../../schemas/event-schema.ts';
import { storedEventJson } from '../../../schemas/event.ts';
import { textIn } from '../../vertex/vertex-api.ts';
import { storedEvent } from '../stored-history.ts';

/** The time by which the service orders an event, in microseconds since the epoch: the event's own time, if plausible. */
export function orderMicros(event: Event, lastMicros: number, nowMs: number): number {
  const latest = (nowMs + 86_400_000) * 1000;
  const own = Math.round(Math.min(Math.max(event.timestamp, 0), latest / 1e6) * 1e6);
  return Math.max(own, lastMicros + 1);
}

/** An RFC 3339 time with microseconds. */
export function timeOf(micros: number): string {
  const seconds = new Date(Math.floor(micros / 1e6) * 1000).toISOString().slice(0, 19);
  return `${seconds}.${String(micros % 1e6).padStart(6, '0')}Z`;
}

export function microsOf(time: unknown): number {
  if (isJsonObject(time)) return Number(time['seconds'] ?? 0) * 1e6 + Math.floor(Number(time['nanos'] ?? 0) / 1000);
  const text = textIn(time);
  const ms = Date.parse(text);
  if (Number.isNaN(ms)) return 0;
  const [, fraction = ''] = /\.(\d+)/.exec(text) ?? [];
  return Math.floor(ms / 1000) * 1e6 + Number(fraction.padEnd(6, '0').slice(0, 6));
}

/**
 * An event for Agent Engine: in the service's fields as far as it has them, and complete as a raw event. `delta` is the
 * state change.
 */
export function toSessionEvent(event: Event, delta: JsonObject, micros: number): JsonObject {
  const { actions } = event;
  return {
    author: event.author,
    invocationId: event.invocationId,
    timestamp: timeOf(micros),
    ...(event.errorCode !== undefined && { errorCode: event.errorCode }),
    ...(event.errorMessage !== undefined && { errorMessage: event.errorMessage }),
    ...(event.content && { content: plainContent(event.content) }),
    eventMetadata: {
      partial: false,
      turnComplete: event.turnComplete ?? false,
      interrupted: event.interrupted ?? false,
      ...(event.branch !== undefined && { branch: event.branch }),
      ...(event.longRunningToolIds && { longRunningToolIds: event.longRunningToolIds }),
      ...(isJsonObject(event.customMetadata) && { customMetadata: event.customMetadata }),
    },
    actions: {
      stateDelta: delta,
      artifactDelta: actions.artifactDelta,
      requestedAuthConfigs: actions.requestedAuthConfigs,
      ...(actions.skipSummarization !== undefined && { skipSummarization: actions.skipSummarization }),
      ...(actions.transferToAgent !== undefined && { transferAgent: actions.transferToAgent }),
      ...(actions.escalate !== undefined && { escalate: actions.escalate }),
    },
    rawEvent: JSON.parse(storedEventJson(event)) as JsonObject,
  };
}

/** Kinds of parts that the service supports; others are only in the raw event. */
const knownParts = ['text', 'thought', 'inlineData', 'fileData', 'functionCall', 'functionResponse'];

function plainContent(content: NonNullable<Event['content']>): JsonObject {
  const parts = content.parts.map((part) =>
    Object.fromEntries(Object.entries(part).filter(([key]) => knownParts.includes(key))),
  );
  return { role: content.role ?? 'user', parts: parts.filter((part) => Object.keys(part).length > 0) };
}

/** The state key for our data that Agent Engine has no field for. Clients never see it. */
export const ownKey = '_agent_server';

const isOurs = (actions: unknown): boolean =>
  isJsonObject(actions) && isJsonObject(actions['stateDelta']) && Object.hasOwn(actions['stateDelta'], ownKey);

/** The original event, or the fields of another server's event. Marked if a client imported it. */
export function fromSessionEvent(stored: JsonObject): Event {
  const event = eventIn(stored);
  if (wasImported(stored['actions'])) markImported([event]);
  return event;
}

function wasImported(actions: unknown): boolean {
  const delta = isJsonObject(actions) ? actions['stateDelta'] : undefined;
  const own = isJsonObject(delta) && Object.hasOwn(delta, ownKey) ? delta[ownKey] : undefined;
  return isJsonObject(own) && own['imported'] === true;
}

function eventIn(stored: JsonObject): Event {
  const raw = stored['rawEvent'];
  // Events of this server are valid and need no validation.
  if (isJsonObject(raw) && isOurs(stored['actions'])) return storedEvent(raw as Event);
  const read = Event.safeParse(raw);
  if (read.success) return storedEvent(read.data);
  const { eventMetadata, actions = {}, content, name, timestamp, ...fields } = stored;
  const metadata = isJsonObject(eventMetadata) ? eventMetadata : {};
  const { transferAgent, ...otherActions } = isJsonObject(actions) ? actions : {};
  const delta = isJsonObject(otherActions['stateDelta']) ? otherActions['stateDelta'] : {};
  return storedEvent(
    Event.parse({
      author: 'user',
      ...fields,
      ...metadata,
      id: textIn(name).split('/').at(-1) ?? '',
      timestamp: microsOf(timestamp) / 1e6,
      ...(isJsonObject(content) && { content: { parts: [], ...content } }),
      actions: {
        ...otherActions,
        stateDelta: delta,
        ...(typeof transferAgent === 'string' && { transferToAgent: transferAgent }),
      },
    }),
  );
}
