import { z } from 'zod';
import { isJsonObject, type JsonObject, toJson } from '../../base/json.ts';
import { Content } from '../../schemas/content-schema.ts';
import type { Part } from '../../schemas/content.ts';
import { type Event, newActions } from '../../schemas/event.ts';

/** An event of ADK for Java in Firestore, with the id of its document. */
export interface JavaEvent {
  readonly id: string;
  readonly fields: JsonObject;
}

const Fields = z.object({
  author: z.string().catch('user'),
  timestamp: z.string().catch(''),
  content: Content.optional().catch(undefined),
});

/**
 * The events of a session, in order. Derives what ADK for Java does not store and histories need: an invocation begins with
 * a user message, and a call has the id of its response. Leaves out events without content.
 */
export function fromJavaEvents(events: readonly JavaEvent[], userId: string): Event[] {
  const open: { name: string; id: string }[] = [];
  let invocationId = '';
  const found: Event[] = [];
  for (const { id, author, content, time } of events.map(read).toSorted(byTime)) {
    if (!content) continue;
    const isUser = author === userId || author === 'user';
    const isAnswer = content.parts.some((part) => part.functionResponse);
    if ((isUser && !isAnswer) || invocationId === '') invocationId = `e-${id}`;
    const parts = content.parts.map((part, index) => withId(part, `adk-${id}-${index}`, open));
    found.push({
      id,
      invocationId,
      author: isUser ? 'user' : author,
      timestamp: time.ms / 1000,
      content: { ...content, role: content.role ?? (isUser || isAnswer ? 'user' : 'model'), parts },
      actions: newActions(),
    });
  }
  return found;
}

interface ReadEvent {
  readonly id: string;
  readonly author: string;
  readonly content: Content | undefined;
  /** Milliseconds, and the fraction of the second as written. */
  readonly time: { readonly ms: number; readonly fraction: string };
}

function read({ id, fields }: JavaEvent): ReadEvent {
  const { author, timestamp, content } = Fields.parse(toJson(fields));
  const ms = Date.parse(timestamp);
  const [, fraction = ''] = /\.(\d+)/.exec(timestamp) ?? [];
  return { id, author, content, time: { ms: Number.isNaN(ms) ? 0 : ms, fraction: fraction.padEnd(9, '0') } };
}

/** Times are texts of different lengths, which do not sort as texts. */
function byTime(a: ReadEvent, b: ReadEvent): number {
  if (a.time.ms !== b.time.ms) return a.time.ms - b.time.ms;
  if (a.time.fraction === b.time.fraction) return 0;
  return a.time.fraction < b.time.fraction ? -1 : 1;
}

/** Gives a part its call id: the first response with a call's name answers it. */
function withId(part: Part, id: string, open: { name: string; id: string }[]): Part {
  const { functionCall: call, functionResponse: response } = part;
  if (call) {
    open.push({ name: call.name, id: call.id ?? id });
    return { ...part, functionCall: { ...call, id: call.id ?? id } };
  }
  if (!response) return part;
  const place = open.findIndex((one) =>
    response.id === undefined ? one.name === response.name : one.id === response.id,
  );
  const [answered] = place < 0 ? [] : open.splice(place, 1);
  return { ...part, functionResponse: { ...response, id: response.id ?? answered?.id ?? id } };
}

/** Converts a state of ADK for Java, with the prefixes `_app_` and `_user_`, to the prefixes `app:` and `user:`. */
export function fromJavaState(state: unknown, scope: '' | 'app:' | 'user:' = ''): JsonObject {
  const plain = toJson(state);
  if (!isJsonObject(plain)) return {};
  return Object.fromEntries(
    Object.entries(plain).map(([key, value]) => {
      if (key.startsWith('_app_')) return [`app:${key.slice('_app_'.length)}`, value];
      if (key.startsWith('_user_')) return [`user:${key.slice('_user_'.length)}`, value];
      return [scope + key, value];
    }),
  );
}
