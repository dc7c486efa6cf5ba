import type * as Sdk from '@google-cloud/firestore';
import { isEvaluationSession, type SessionKey, type SessionOwner } from '../../../schemas/session.ts';
import type { OpenFirestore } from '../../firestore/database.ts';
import { checkState, documentId, fieldName } from '../../firestore/documents.ts';
import type { StateChange, StateChanges } from '../session-tables.ts';

export const sessionDocument = ({ appName, userId, sessionId }: SessionKey): string =>
  documentId(appName, userId, sessionId);
export const userDocument = ({ appName, userId }: SessionOwner): string => documentId(appName, userId);
export const appDocument = (appName: string): string => documentId(appName);

/** The key for finding an evaluation session without its user; `null` for other sessions. */
export const evaluationMark = (appName: string, sessionId: string): string | null =>
  isEvaluationSession(sessionId) ? documentId(appName, sessionId) : null;

/** Throws `too_large`. */
export function checkChanges({ app, user, session }: StateChanges): void {
  for (const change of [app, user, session]) if (change) checkState(change.set);
}

/** Writes the changes of the app's and the user's state, key by key, so that writers of different keys do not conflict. */
export function changeScopes(open: OpenFirestore, batch: Sdk.WriteBatch, key: SessionKey, changes: StateChanges): void {
  const { appName, userId } = key;
  const { app, user } = changes;
  const write = (collection: string, id: string, fields: object, change: StateChange): void => {
    batch.set(open.collection(collection).doc(id), { ...fields, state: valuesOf(open, change) }, { merge: true });
  };
  if (app) write('apps', appDocument(appName), { appName }, app);
  if (user) write('users', userDocument(key), { appName, userId }, user);
}

/** A change as fields for a merge. */
export function valuesOf({ sdk }: OpenFirestore, { removed, set }: StateChange): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  for (const key of removed) values[fieldName(key)] = sdk.FieldValue.delete();
  for (const key of Object.keys(set)) values[fieldName(key)] = JSON.stringify(set[key]);
  return values;
}
