import type * as Sdk from '@google-cloud/firestore';
import type { SessionKey, SessionOwner } from '../../../schemas/session.ts';
import { type FirestoreDatabase, isConflict, type OpenFirestore } from '../../firestore/database.ts';
import { documentId, readText, stateJson } from '../../firestore/documents.ts';
import { requirePlausible } from '../../plausible-time.ts';
import type { SessionNumber } from '../history-cache.ts';
import type {
  Appended,
  AppendTarget,
  EventRange,
  EventRow,
  NewSessionRow,
  OutdatedBounds,
  PlacedKey,
  SessionRow,
  SessionTables,
  StateChanges,
  StoredEventRow,
} from '../session-tables.ts';
import { appendEvent, type SessionHeads } from './firestore-append.ts';
import { createSession } from './firestore-create.ts';
import { appDocument, evaluationMark, sessionDocument, userDocument } from './firestore-documents.ts';
import { eventsOf, partsOf, removeHistory, sweep } from './firestore-histories.ts';

/** Events per request: each may have nearly a megabyte. */
const readAtOnce = 50;
/** Attempts of a deletion that conflicts with other writes. */
const maxTries = 10;

/**
 * Sessions in Firestore. Any number of servers may share them: an append is one commit that requires an unchanged session,
 * so one of two concurrent appends is repeated.
 */
export class FirestoreSessionTables implements SessionTables {
  readonly #database: FirestoreDatabase;
  readonly #heads: SessionHeads = new Map();
  /** Serializes the appends of this process per session, to avoid conflicts among them. */
  readonly #appends = new Map<string, Promise<unknown>>();

  constructor(database: FirestoreDatabase) {
    this.#database = database;
  }

  create(session: NewSessionRow): Promise<void> {
    return createSession(this.#database, session);
  }

  find(key: SessionKey): Promise<SessionRow | undefined> {
    return this.#database.run(async (open) => {
      const refs = [open.collection('sessions').doc(sessionDocument(key)), ...sharedBy(open, key)];
      const [session, ...shared] = await open.db.getAll(...refs);
      return session?.exists ? rowOf(session, shared) : undefined;
    });
  }

  findByApp(appName: string, id: string): Promise<SessionRow | undefined> {
    return this.#database.run(async (open) => {
      const query = open.collection('sessions').where('evaluation', '==', evaluationMark(appName, id)).limit(1);
      const [session] = (await query.get()).docs;
      if (!session) return undefined;
      const owner = { appName, userId: String(session.get('userId')) };
      return rowOf(session, await open.db.getAll(...sharedBy(open, owner)));
    });
  }

  list(owner: SessionOwner): Promise<SessionRow[]> {
    return this.#database.run(async (open) => {
      const { docs } = await open.collection('sessions').where('owner', '==', userDocument(owner)).get();
      const created = docs.toSorted((a, b) => (placeOf(a) < placeOf(b) ? -1 : 1));
      const shared = await open.db.getAll(...sharedBy(open, owner));
      return created.map((session) => rowOf(session, shared));
    });
  }

  initialState(target: AppendTarget): Promise<string | null> {
    return this.#database.run(async ({ collection }) => {
      const session = await collection('sessions').doc(sessionDocument(target)).get();
      const state: unknown = session.get('initialState');
      return typeof state === 'string' ? state : null;
    });
  }

  delete(key: SessionKey, only: SessionNumber | undefined): Promise<void> {
    return this.#database.retryWhileUnavailable(async (open) => {
      const ref = open.collection('sessions').doc(sessionDocument(key));
      for (let attempt = 0; ; attempt += 1) {
        const session = await ref.get();
        if (!session.exists) return;
        const number = String(session.get('number'));
        if (only !== undefined && only !== number) return;
        const batch = open.db.batch().delete(ref, { lastUpdateTime: session.updateTime ?? session.readTime });
        batch.set(open.collection('garbage').doc(number), { since: Date.now() });
        try {
          await batch.commit();
        } catch (error) {
          if (!isConflict(error) || attempt === maxTries) throw error;
          await this.#database.pause(Math.random() * 50 * (attempt + 1));
          continue;
        }
        return removeHistory(open, number);
      }
    });
  }

  allAfter(after: PlacedKey['place'] | undefined, limit: number): Promise<PlacedKey[]> {
    return this.#database.run(async ({ collection, sdk }) => {
      const named = sdk.FieldPath.documentId();
      let query = collection('sessions').orderBy('createdAt').orderBy(named).limit(limit);
      if (after !== undefined) {
        const [, seconds, nanos, id] = /^(\d+)\.(\d+) (.+)$/.exec(String(after)) ?? [];
        query = query.startAfter(new sdk.Timestamp(Number(seconds), Number(nanos)), id);
      }
      const { docs } = await query.select('appName', 'userId', 'id', 'createdAt').get();
      return docs.map((session) => ({ ...keyIn(session), place: placeOf(session) }));
    });
  }

  outdated({ beforeMs, keep, limit }: OutdatedBounds): Promise<SessionKey[]> {
    return this.#database.run(async (open) => {
      await sweep(open);
      const sessions = open.collection('sessions');
      const surplus = keep === undefined ? 0 : (await sessions.count().get()).data().count - keep;
      // Sorted by the last write, so sessions that are too old and those that are too many both come first.
      const { docs } = await sessions
        .orderBy('clockMs')
        .limit(limit)
        .select('appName', 'userId', 'id', 'clockMs')
        .get();
      // Implausible times come first, too, except those in the future.
      const { docs: last } = await sessions
        .orderBy('clockMs', 'desc')
        .limit(1)
        .select('id', 'appName', 'clockMs')
        .get();
      for (const session of [...docs.slice(0, 1), ...last]) {
        const what = `Session "${session.get('id')}" of app "${session.get('appName')}"`;
        requirePlausible(Number(session.get('clockMs')), what, 'clockMs');
      }
      const isOld = (session: Sdk.DocumentSnapshot): boolean =>
        beforeMs !== undefined && Number(session.get('clockMs')) < beforeMs;
      return docs.filter((session, index) => index < surplus || isOld(session)).map(keyIn);
    });
  }

  events(
    { sessionNumber }: SessionRow,
    { from, to, limit, maxBytes, isDescending = false }: EventRange,
  ): Promise<StoredEventRow[]> {
    return this.#database.run(async (open) => {
      const number = String(sessionNumber);
      const [low, high] = isDescending ? [Math.max(from, to - limit), to] : [from, Math.min(to, from + limit)];
      const rows: StoredEventRow[] = [];
      let bytes = 0;
      for (let done = 0; done < high - low; done += readAtOnce) {
        const [first, end] = isDescending
          ? [Math.max(low, high - done - readAtOnce), high - done]
          : [low + done, Math.min(high, low + done + readAtOnce)];
        const query = eventsOf(open, number).where('seq', '>=', first).where('seq', '<', end);
        const { docs } = await query.orderBy('seq', isDescending ? 'desc' : 'asc').get();
        for (const event of docs) {
          const body = await readText(event, partsOf(open, number), `${event.id}-${event.get('attempt')}`);
          rows.push({ seq: Number(event.get('seq')), body, eventData: null });
          if ((bytes += body.length) >= maxBytes) return rows;
        }
      }
      return rows;
    });
  }

  seqOf({ sessionNumber }: SessionRow, eventId: string): Promise<number | undefined> {
    return this.#database.run(async (open) => {
      const event = await eventsOf(open, String(sessionNumber)).doc(documentId(eventId)).get();
      return event.exists ? Number(event.get('seq')) : undefined;
    });
  }

  /** Without fencing: runs are not stored in Firestore, so there is no takeover. */
  async append(target: AppendTarget, event: EventRow, changes: StateChanges): Promise<Appended> {
    const id = sessionDocument(target);
    const before = this.#appends.get(id);
    const append = (): Promise<Appended> => appendEvent(this.#database, this.#heads, { target, id, event, changes });
    const turn = before ? before.then(append, append) : append();
    this.#appends.set(id, turn);
    try {
      return await turn;
    } finally {
      if (this.#appends.get(id) === turn) this.#appends.delete(id);
    }
  }

  check(): Promise<void> {
    return this.#database.check();
  }

  close(): Promise<void> {
    return this.#database.close();
  }
}

/** The documents with the states of an app and of a user. */
const sharedBy = ({ collection }: OpenFirestore, owner: SessionOwner): Sdk.DocumentReference[] => [
  collection('apps').doc(appDocument(owner.appName)),
  collection('users').doc(userDocument(owner)),
];

function rowOf(session: Sdk.DocumentSnapshot, [app, user]: readonly (Sdk.DocumentSnapshot | undefined)[]): SessionRow {
  return {
    ...keyIn(session),
    sessionNumber: String(session.get('number')),
    revision: 0,
    nextSeq: Number(session.get('nextSeq')),
    state: stateJson(session.get('state')),
    appState: stateJson(app?.get('state')),
    userState: stateJson(user?.get('state')),
    imported: Number(session.get('imported') ?? 0),
    lastUpdateTime: Number(session.get('lastUpdateTime')),
  };
}

const keyIn = (session: Sdk.DocumentSnapshot): SessionKey => ({
  appName: String(session.get('appName')),
  userId: String(session.get('userId')),
  sessionId: String(session.get('id')),
});

/** A text that sorts like the sessions' order of creation. */
function placeOf(session: Sdk.DocumentSnapshot): string {
  const { seconds, nanoseconds } = session.get('createdAt') as Sdk.Timestamp;
  return `${seconds}.${String(nanoseconds).padStart(9, '0')} ${session.id}`;
}
