import type * as Sdk from '@google-cloud/firestore';
import { AppError } from '../../base/errors.ts';
import type { Session } from '../../schemas/session.ts';
import type { FirestoreDatabase, FirestorePlace, OpenFirestore } from './database.ts';
import { fromJavaEvents, fromJavaState } from './java-events.ts';

/** The database with sessions of ADK for Java; `prefix` is its configured root collection. */
export type JavaPlace = FirestorePlace;

/** Reads `firestore-adk://PROJECT/DATABASE?root=COLLECTION`. Throws `ConfigurationException`. */
export function parseJavaPlace(text: string): JavaPlace {
  const [, project, database = '(default)', query] =
    /^firestore-adk:\/\/([a-z][\w.:-]+)(?:\/(\(default\)|[a-z][\w-]+))?\/?(?:\?(.*))?$/i.exec(text.trim()) ?? [];
  const { root = 'adk-session', ...others } = Object.fromEntries(new URLSearchParams(query));
  if (project === undefined || Object.keys(others).length > 0 || root === '') {
    throw new AppError('ConfigurationException', `"${text}" must be firestore-adk://PROJECT/DATABASE?root=COLLECTION`);
  }
  return { project, database, prefix: root };
}

/** Documents per request. */
const readAtOnce = 200;

/** Yields the sessions of ADK for Java, with their state and their stored events. */
export async function* javaSessions(database: FirestoreDatabase, root: string): AsyncGenerator<Session, void, void> {
  // ADK writes no document for a user, so users are found by the collections below them.
  const users = await database.run(({ db }) => db.collection(root).listDocuments());
  for (const user of users) {
    for await (const session of documentsOf(database, user.collection('sessions'))) {
      yield await database.run((open) => sessionIn(open, user.id, session, database));
    }
  }
}

async function sessionIn(
  { db }: OpenFirestore,
  user: string,
  session: Sdk.DocumentSnapshot,
  database: FirestoreDatabase,
): Promise<Session> {
  const appName = String(session.get('appName') ?? '');
  const userId = String(session.get('userId') ?? user);
  const events = await Array.fromAsync(documentsOf(database, session.ref.collection('user-event')));
  const [app, shared] = await db.getAll(
    db.collection('app-state').doc(appName),
    db.collection('user-state').doc(appName).collection('users').doc(userId),
  );
  const updated = Date.parse(String(session.get('updateTime')));
  return {
    appName,
    userId,
    id: String(session.get('id') ?? session.id),
    state: {
      ...fromJavaState(session.get('state')),
      ...fromJavaState(app?.data(), 'app:'),
      ...fromJavaState(shared?.data(), 'user:'),
    },
    events: fromJavaEvents(
      events.map((event) => ({ id: event.id, fields: event.data() ?? {} })),
      userId,
    ),
    lastUpdateTime: Number.isNaN(updated) ? 0 : updated / 1000,
  };
}

async function* documentsOf(
  database: FirestoreDatabase,
  collection: Sdk.CollectionReference,
): AsyncGenerator<Sdk.QueryDocumentSnapshot, void, void> {
  let last: Sdk.QueryDocumentSnapshot | undefined;
  do {
    const after = last;
    const { docs } = await database.run(({ sdk }) => {
      const query = collection.orderBy(sdk.FieldPath.documentId()).limit(readAtOnce);
      return (after ? query.startAfter(after) : query).get();
    });
    yield* docs;
    last = docs.length < readAtOnce ? undefined : docs.at(-1);
  } while (last);
}
