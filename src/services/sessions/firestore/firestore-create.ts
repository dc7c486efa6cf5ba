import { randomUUID } from 'node:crypto';
import { AppError } from '../../../base/errors.ts';
import { adkMs } from '../../adk-time.ts';
import { type FirestoreDatabase, isConflict, type OpenFirestore } from '../../firestore/database.ts';
import type { NewSessionRow } from '../session-tables.ts';
import {
  changeScopes,
  checkChanges,
  evaluationMark,
  sessionDocument,
  userDocument,
  valuesOf,
} from './firestore-documents.ts';
import { removeHistory, writeHistory } from './firestore-histories.ts';

/** A larger initial state is not stored a second time, because a document is limited to one megabyte. */
const maxInitialBytes = 64 * 1024;
/** Attempts of a commit that conflicts with other writes to the same app or user. */
const maxTries = 10;

/**
 * Stores a session with its first events. Writes the events first, where they are not visible; then one commit creates the
 * session, or fails because it exists. Throws `session_exists`, and `invalid_request` for two events with one id.
 */
export async function createSession(database: FirestoreDatabase, session: NewSessionRow): Promise<void> {
  const { events, changes } = session;
  if (new Set(events.map(({ id }) => id)).size < events.length) {
    throw new AppError('invalid_request', 'Two events have the same id');
  }
  checkChanges(changes);
  const number = randomUUID();
  if (events.length > 0) await database.retryWhileUnavailable((open) => writeHistory(open, number, events));
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await database.retryWhileUnavailable((open) => commit(open, session, number));
    } catch (error) {
      if (!isConflict(error)) throw error;
      const there = await database.retryWhileUnavailable((open) => numberOf(open, session));
      if (there === number) return; // the response to our own commit was lost
      if (there !== undefined) {
        if (events.length > 0) await database.run((open) => removeHistory(open, number));
        throw new AppError('session_exists', `Session "${session.sessionId}" already exists`);
      }
      if (attempt === maxTries) throw error;
      await database.pause(Math.random() * 50 * (attempt + 1));
    }
  }
}

async function commit(open: OpenFirestore, session: NewSessionRow, number: string): Promise<void> {
  const { appName, userId, sessionId, changes, events, imported, initialState, lastUpdateTime } = session;
  const batch = open.db.batch().create(open.collection('sessions').doc(sessionDocument(session)), {
    appName,
    userId,
    id: sessionId,
    owner: userDocument(session),
    evaluation: evaluationMark(appName, sessionId),
    number,
    nextSeq: events.length + 1,
    imported,
    ...(initialState !== null && Buffer.byteLength(initialState) <= maxInitialBytes && { initialState }),
    state: valuesOf(open, { removed: [], set: changes.session?.set ?? {} }),
    createdAt: open.sdk.FieldValue.serverTimestamp(),
    clockMs: adkMs(lastUpdateTime),
    lastUpdateTime,
  });
  changeScopes(open, batch, session, changes);
  if (events.length > 0) batch.delete(open.collection('garbage').doc(number), { exists: true });
  await batch.commit();
}

async function numberOf(open: OpenFirestore, session: NewSessionRow): Promise<string | undefined> {
  const found = await open.collection('sessions').doc(sessionDocument(session)).get();
  return found.exists ? String(found.get('number')) : undefined;
}
