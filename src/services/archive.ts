import { z } from 'zod';
import { AppError } from '../base/errors.ts';
import { importedCount } from '../core/imported-events.ts';
import type { ArtifactService, MemoryService, SessionService } from '../core/services.ts';
import { Part } from '../schemas/content-schema.ts';
import { nameFault } from '../schemas/names.ts';
import { Session as SessionSchema } from '../schemas/session-schema.ts';
import { keyOf, type Session, sessionJson, type SessionKey } from '../schemas/session.ts';
import type { Archive } from './retention.ts';

// A store as lines of JSON: one for each session with its history and state, and one for each version of an artifact.

const ArtifactLine = z.object({
  appName: z.string(),
  userId: z.string(),
  sessionId: z.string(),
  name: z.string(),
  part: Part,
  /** Absent in exports of earlier versions: the next. */
  version: z.number().int().nonnegative().default(0),
  customMetadata: z.record(z.string(), z.unknown()),
});
/** `imported`: how many of the events, from the first, a client brought along. */
const SessionLine = z.object({ session: SessionSchema, imported: z.number().int().nonnegative().optional() });
const Line = z.union([SessionLine, z.object({ artifact: ArtifactLine })]);

/** Throws `too_large` for a session that is longer than a text can be, which is some 512 MB. */
function lineOf(session: Session): string {
  try {
    return sessionJson(session);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new AppError('too_large', `Session "${session.id}" is too large for a line of an export (512 MB)`);
  }
}

/** Every session of the store, and every artifact of these sessions and their users, one by one. */
export async function* exportLines(
  sessions: SessionService & Archive,
  artifacts: ArtifactService,
): AsyncGenerator<string, void, void> {
  const usersDone = new Set<string>();
  for await (const key of sessions.allSessions()) {
    const session = await sessions.getSession(key);
    if (!session) continue; // deleted meanwhile
    const imported = importedCount(session.events);
    yield `{"session":${lineOf(session)}${imported > 0 ? `,"imported":${imported}` : ''}}\n`;
    const user = JSON.stringify([key.appName, key.userId]);
    for (const name of await artifacts.listArtifactKeys(key)) {
      if (name.startsWith('user:') && usersDone.has(user)) continue;
      for (const { version, customMetadata } of await artifacts.listVersions(key, name)) {
        const part = await artifacts.loadArtifact(key, name, version);
        if (part) yield `${JSON.stringify({ artifact: { ...key, name, part, version, customMetadata } })}\n`;
      }
    }
    usersDone.add(user);
  }
}

export interface Imported {
  readonly sessions: number;
  readonly artifacts: number;
  /** Sessions that were there already, and were left alone. */
  readonly skipped: readonly SessionKey[];
}

/**
 * Reads lines of an export. A session that is there already is left as it is, and so are its artifacts. One is created
 * when its artifacts are stored, and versions of these that are there are not stored again: so an import that was broken
 * off is completed by doing it once more. Throws `invalid_request` for a line that is no export.
 */
export async function importLines(
  lines: AsyncIterable<string>,
  sessions: SessionService,
  artifacts: ArtifactService,
): Promise<Imported> {
  const skipped = new Map<string, SessionKey>();
  const done = { sessions: 0, artifacts: 0 };
  let open: z.output<typeof SessionLine> | undefined;
  /** Versions that were there before, by artifact: those of the session that is open. */
  let before = new Map<string, number>();
  const close = async (): Promise<void> => {
    if (open) await create(sessions, open.session, open.imported);
    if (open) done.sessions += 1;
    open = undefined;
    before = new Map();
  };
  let number = 0;
  for await (const text of lines) {
    number += 1;
    if (text.trim() === '') continue;
    const line = parseLine(text, number);
    if ('session' in line) {
      await close();
      const key = keyOf(line.session);
      if (await sessions.getSession(key, { numRecentEvents: 1 })) skipped.set(idOf(key), key);
      else open = line;
      continue;
    }
    const { name, part, version, customMetadata: metadata, ...key } = line.artifact;
    if (skipped.has(idOf(key))) continue;
    const artifact = `${idOf(key)} ${name}`;
    const left = before.get(artifact) ?? (await artifacts.listVersions(key, name)).length;
    before.set(artifact, Math.max(0, left - 1));
    if (left > 0) continue;
    if (artifacts.saveArtifactCopy) await artifacts.saveArtifactCopy(key, name, part, { version, metadata });
    else await artifacts.saveArtifact(key, name, part, metadata);
    done.artifacts += 1;
  }
  await close();
  return { ...done, skipped: [...skipped.values()] };
}

/**
 * Stores sessions of other servers, and remembers what was said in them. Those that are there already are left as they are.
 * Throws `invalid_request` for one whose name is none here.
 */
export async function importSessions(
  source: AsyncIterable<Session>,
  sessions: SessionService,
  memories: MemoryService,
): Promise<Imported> {
  const skipped: SessionKey[] = [];
  let count = 0;
  for await (const session of source) {
    const key = keyOf(session);
    for (const name of Object.values(key)) {
      const fault = nameFault(name);
      if (fault) throw new AppError('invalid_request', `Session "${key.sessionId}": the name "${name}" ${fault}`);
    }
    if (await sessions.getSession(key, { numRecentEvents: 1 })) {
      skipped.push(key);
      continue;
    }
    await memories.addSessionToMemory(await create(sessions, session));
    count += 1;
  }
  return { sessions: count, artifacts: 0, skipped };
}

const create = (sessions: SessionService, session: Session, imported = 0): Promise<Session> => {
  const { id: sessionId, state, events, lastUpdateTime } = session;
  return sessions.createSession(keyOf(session), { sessionId, state, events, imported, lastUpdateTime });
};

const idOf = ({ appName, userId, sessionId }: SessionKey): string => JSON.stringify([appName, userId, sessionId]);

function parseLine(text: string, number: number): z.output<typeof Line> {
  try {
    return Line.parse(JSON.parse(text));
  } catch (error) {
    const cause = error instanceof z.ZodError ? new Error(z.prettifyError(error)) : error;
    throw new AppError('invalid_request', `Line ${number} is no line of an export`, { cause });
  }
}
