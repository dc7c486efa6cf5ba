import type * as Sdk from '@google-cloud/firestore';
import { AppError } from '../../base/errors.ts';
import type { Session } from '../../schemas/session.ts';
import type { FirestoreDatabase, FirestorePlace, OpenFirestore } from './database.ts';
import { fromJavaEvents, fromJavaState } from './java-events.ts';

/** Where ADK for Java keeps sessions; `prefix` is the collection it was told to use. */
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

/** Documents that are read with one request. */
const readAtOnce = 200;

/** The sessions ADK for Java has stored, with their state and what it kept of their events, one by one. */
export async function* javaSessions(database: FirestoreDatabase, root: string): AsyncGenerator<Session, void, void> {
  // Nobody writes the document of a user, so it is found by what is below it.
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
