import { z } from 'zod';
import { AppError } from '../base/errors.ts';
import { importedCount } from '../core/events/imported-events.ts';
import type { ArtifactService, MemoryService, SessionService } from '../core/services.ts';
import { Part } from '../schemas/content-schema.ts';
import { nameFault } from '../schemas/names.ts';
import { Session as SessionSchema } from '../schemas/session-schema.ts';
import { keyOf, type Session, sessionJson, type SessionKey } from '../schemas/session.ts';
import type { Archive } from './retention.ts';

// A store as lines of JSON: one per session with its history and state, and one per version of an artifact.

const ArtifactLine = z.object({
  appName: z.string(),
  userId: z.string(),
  sessionId: z.string(),
  name: z.string(),
  part: Part,
  /** Absent in exports of earlier versions; then it gets the next number. */
  version: z.number().int().nonnegative().default(0),
  customMetadata: z.record(z.string(), z.unknown()),
});
/** `imported`: how many events at the start a client imported. */
const SessionLine = z.object({ session: SessionSchema, imported: z.number().int().nonnegative().optional() });
const Line = z.union([SessionLine, z.object({ artifact: ArtifactLine })]);

/** Throws `too_large` for a session longer than the longest string, about 512 MB. */
function lineOf(session: Session): string {
  try {
    return sessionJson(session);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new AppError('too_large', `Session "${session.id}" is too large for a line of an export (512 MB)`);
  }
}

/** Yields every session of the store, and every artifact of these sessions and their users. */
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
  /** Sessions that existed already and were not changed. */
  readonly skipped: readonly SessionKey[];
}

/**
 * Reads lines of an export. Existing sessions and their artifacts do not change. A session is created after its artifacts,
 * and existing versions are not stored again, so an interrupted import is completed by a second one. Throws
 * `invalid_request` for an invalid line.
 */
export async function importLines(
  lines: AsyncIterable<string>,
  sessions: SessionService,
  artifacts: ArtifactService,
): Promise<Imported> {
  const skipped = new Map<string, SessionKey>();
  const done = { sessions: 0, artifacts: 0 };
  let open: z.output<typeof SessionLine> | undefined;
  /** Existing versions by artifact, of the current session. */
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
 * Stores sessions of other servers, and adds them to memory. Existing sessions do not change. Throws `invalid_request` for
 * a session whose names are invalid here.
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
    throw new AppError('invalid_request', `Line ${number} is not a line of an export`, { cause });
  }
}
