import { z } from 'zod';
import { textOf } from '../../schemas/content.ts';
import type { Event } from '../../schemas/event.ts';
import type { MemoryEntry } from '../../schemas/records.ts';
import type { SessionKey, SessionOwner } from '../../schemas/session.ts';

// A session in a RAG corpus is a file, as with other ADK servers: one line of JSON per message, and the names of its owner
// in the file name.

const prefix = 'adk-memory-v1.';
const encoded = (name: string): string => Buffer.from(name).toString('base64url');

export const fileNameOf = ({ appName, userId, sessionId }: SessionKey): string =>
  prefix + [appName, userId, sessionId].map(encoded).join('.');

/** Whether a file is one of the owner's sessions. Older servers wrote names unencoded, which is ambiguous if they contain dots. */
export function isFileOf(fileName: string, { appName, userId }: SessionOwner): boolean {
  if (fileName.startsWith(prefix)) return fileName.startsWith(`${prefix}${encoded(appName)}.${encoded(userId)}.`);
  const names = fileName.split('.');
  return names.length === 3 && names[0] === appName && names[1] === userId;
}

/** The messages of a session as the text of its file. */
export function fileText(events: readonly Event[]): string {
  const lines = events.flatMap(({ author, timestamp, content }) => {
    const text = content ? textOf(content, ' ').trim() : '';
    return text === '' ? [] : [JSON.stringify({ author, timestamp, text: oneLine(text), role: content?.role })];
  });
  return lines.join('\n');
}

const oneLine = (text: string): string =>
  text
    .split('\n')
    .map((line) => line.trim())
    .join(' ');

const Line = z.object({
  author: z.string().catch(''),
  timestamp: z.coerce.number().catch(0),
  text: z.string(),
  role: z.string().optional(),
});

/** The messages in excerpts of files. An excerpt may begin and end within a line, and excerpts may overlap. */
export function entriesIn(excerpts: readonly string[]): MemoryEntry[] {
  const found = new Map<string, z.output<typeof Line>>();
  for (const line of excerpts.flatMap((piece) => piece.split('\n'))) {
    const read = Line.safeParse(jsonIn(line));
    if (read.success) found.set(JSON.stringify(read.data), read.data);
  }
  const messages = [...found.values()].toSorted((a, b) => a.timestamp - b.timestamp);
  return messages.map(({ author, timestamp, text, role = author === 'user' ? 'user' : 'model' }) => {
    const time = new Date(timestamp * 1000);
    return {
      author,
      content: { role, parts: [{ text }] },
      ...(!Number.isNaN(time.getTime()) && { timestamp: time.toISOString() }),
    };
  });
}

function jsonIn(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
