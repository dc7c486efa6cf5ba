import { randomUUID } from 'node:crypto';
import type * as Sdk from '@google-cloud/firestore';
import { AppError } from '../../../base/errors.ts';
import type { SessionKey } from '../../../schemas/session.ts';
import { adkMs } from '../../adk-time.ts';
import { type FirestoreDatabase, isConflict, type OpenFirestore } from '../../firestore/database.ts';
import { fieldName } from '../../firestore/documents.ts';
import { isUnavailable } from '../../google/google-connection.ts';
import type { Appended, AppendTarget, EventRow, StateChanges } from '../session-tables.ts';
import { changeScopes, checkChanges } from './firestore-documents.ts';
import { eventDocument, eventsOf, type NewEventDocument, writeEventParts } from './firestore-histories.ts';

/** What the next append needs to know of a session. */
interface SessionHead {
  readonly number: string;
  readonly nextSeq: number;
  readonly lastUpdateTime: number;
  /** The write time of the document: an append requires that it has not changed. */
  readonly writtenAt: Sdk.Timestamp;
}

/** The sessions that this process appended to most recently, by document. */
export type SessionHeads = Map<string, SessionHead>;
const maxHeads = 5000;

interface Append {
  readonly target: AppendTarget;
  readonly id: string;
  readonly event: EventRow;
  readonly changes: StateChanges;
}

/** Attempts of an append that loses against other servers. */
const maxTries = 40;
const longestPauseMs = 200;

/**
 * Appends in one commit, which succeeds only if the session has not changed since it was read; otherwise reads it again
 * and retries. After a lost response it looks for the event: one with the id of this attempt is our own.
 */
export async function appendEvent(database: FirestoreDatabase, heads: SessionHeads, append: Append): Promise<Appended> {
  const { target, id, event, changes } = append;
  checkChanges(changes);
  const document = eventDocument(event, randomUUID());
  let head = heads.get(id);
  if (!head || !isTarget(head, target)) head = await database.retryWhileUnavailable((open) => headOf(open, id));
  for (let attempt = 0; ; attempt += 1) {
    if (!head || !isTarget(head, target)) {
      throw new AppError('session_not_found', `Session not found: ${target.sessionId}`);
    }
    const { number } = head;
    try {
      const from = head;
      const next = await database.run((open) => commit(open, append, from, document));
      heads.delete(id);
      heads.set(id, next);
      if (heads.size > maxHeads) heads.delete(heads.keys().next().value ?? '');
      return { sessionNumber: number, seq: from.nextSeq, lastUpdateTime: next.lastUpdateTime };
    } catch (error) {
      heads.delete(id);
      if (!isConflict(error) && !isUnavailable(error)) throw error;
      if (attempt === maxTries || (isUnavailable(error) && attempt >= maxOutages)) throw busy(error, target);
      await database.pause(Math.random() * Math.min(longestPauseMs, 5 * 2 ** attempt));
    }
    const found = await database.retryWhileUnavailable((open) => lookAgain(open, id, number, document));
    head = found.head;
    if (head && found.stored) {
      return { sessionNumber: number, lastUpdateTime: head.lastUpdateTime, seq: seqOf(found.stored, append, document) };
    }
  }
}

const isTarget = ({ number }: SessionHead, { sessionNumber }: AppendTarget): boolean =>
  sessionNumber === undefined || sessionNumber === number;

/** Attempts while the database is unreachable, each with some seconds of retries. */
const maxOutages = 3;

const busy = (error: unknown, { sessionId }: SessionKey): unknown =>
  isUnavailable(error)
    ? error
    : new AppError('unavailable', `Session "${sessionId}" is written to by others all the time`, {
        cause: error,
        retryAfter: 2,
      });

async function headOf({ collection }: OpenFirestore, id: string): Promise<SessionHead | undefined> {
  return headIn(await collection('sessions').doc(id).get());
}

/** The current session, and the event, if it is stored already. */
async function lookAgain(
  open: OpenFirestore,
  id: string,
  number: string,
  event: NewEventDocument,
): Promise<{ head: SessionHead | undefined; stored: Sdk.DocumentSnapshot | undefined }> {
  const refs = [open.collection('sessions').doc(id), eventsOf(open, number).doc(event.id)];
  const [session, stored] = await open.db.getAll(...refs);
  const head = session && headIn(session);
  return { head, stored: stored?.exists && head?.number === number ? stored : undefined };
}

function headIn(session: Sdk.DocumentSnapshot): SessionHead | undefined {
  if (!session.exists) return undefined;
  return {
    number: String(session.get('number')),
    nextSeq: Number(session.get('nextSeq')),
    lastUpdateTime: Number(session.get('lastUpdateTime')),
    writtenAt: session.updateTime ?? session.readTime,
  };
}

function seqOf(stored: Sdk.DocumentSnapshot, { event }: Append, { data }: NewEventDocument): number {
  if (stored.get('attempt') === data['attempt']) return Number(stored.get('seq'));
  throw new AppError('invalid_request', `Event "${event.id}" is stored already`);
}

async function commit(
  open: OpenFirestore,
  { target, id, event, changes }: Append,
  head: SessionHead,
  document: NewEventDocument,
): Promise<SessionHead> {
  const { sdk, db, collection } = open;
  await writeEventParts(open, head.number, document);
  const lastUpdateTime = Math.max(head.lastUpdateTime, event.timestamp);
  const nextSeq = head.nextSeq + 1;
  const changed: [Sdk.FieldPath, unknown][] = [
    [new sdk.FieldPath('nextSeq'), nextSeq],
    [new sdk.FieldPath('lastUpdateTime'), lastUpdateTime],
    [new sdk.FieldPath('clockMs'), adkMs(lastUpdateTime)],
  ];
  for (const name of changes.session?.removed ?? []) {
    changed.push([new sdk.FieldPath('state', fieldName(name)), sdk.FieldValue.delete()]);
  }
  for (const [name, value] of Object.entries(changes.session?.set ?? {})) {
    changed.push([new sdk.FieldPath('state', fieldName(name)), JSON.stringify(value)]);
  }
  const [[first, value], ...others] = changed as [[Sdk.FieldPath, unknown], ...[Sdk.FieldPath, unknown][]];
  const ifUnwritten = { lastUpdateTime: head.writtenAt };
  const batch = db.batch();
  batch.update(collection('sessions').doc(id), first, value, ...others.flat(), ifUnwritten);
  batch.create(eventsOf(open, head.number).doc(document.id), { ...document.data, seq: head.nextSeq });
  changeScopes(open, batch, target, changes);
  const [written] = await batch.commit();
  return { ...head, nextSeq, lastUpdateTime, writtenAt: written?.writeTime ?? head.writtenAt };
}
