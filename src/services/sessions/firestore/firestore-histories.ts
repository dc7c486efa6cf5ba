import type * as Sdk from '@google-cloud/firestore';
import type { OpenFirestore } from '../../firestore/database.ts';
import {
  deleteAll,
  documentId,
  type KeptText,
  keptText,
  maxCommitBytes,
  writeParts,
} from '../../firestore/documents.ts';
import type { EventRow } from '../session-tables.ts';

// A history is stored separately, under the number of its session, so that it can be written before the session exists and
// deleted after it. `garbage` lists histories whose deletion may not have finished.

const historyOf = ({ collection }: OpenFirestore, number: string): Sdk.DocumentReference =>
  collection('histories').doc(number);
export const eventsOf = (open: OpenFirestore, number: string): Sdk.CollectionReference =>
  historyOf(open, number).collection('events');
export const partsOf = (open: OpenFirestore, number: string): Sdk.CollectionReference =>
  historyOf(open, number).collection('parts');

/** An event for a new document. */
export interface NewEventDocument {
  readonly id: string;
  readonly text: KeptText;
  readonly data: Sdk.DocumentData;
}

/** `attempt` identifies the append: it distinguishes our own event from another with the same id. */
export function eventDocument({ id, invocationId, timestamp, body }: EventRow, attempt: string): NewEventDocument {
  const text = keptText(body);
  return { id: documentId(id), text, data: { id, invocationId, timestamp, attempt, ...text.fields } };
}

export async function writeEventParts(
  open: OpenFirestore,
  number: string,
  { id, text, data }: NewEventDocument,
): Promise<void> {
  await writeParts(partsOf(open, number), `${id}-${data['attempt']}`, text);
}

/** Events per commit, besides the limit in bytes. */
const maxWrites = 300;

/** Writes the history of a session that does not exist yet. */
export async function writeHistory(open: OpenFirestore, number: string, events: readonly EventRow[]): Promise<void> {
  await open.collection('garbage').doc(number).set({ since: Date.now() });
  let batch = open.db.batch();
  let bytes = 0;
  let writes = 0;
  for (const [index, row] of events.entries()) {
    const event = eventDocument(row, number);
    const size = event.text.parts.length > 0 ? 1000 : event.text.size + 1000;
    if (writes > 0 && (bytes + size > maxCommitBytes || writes === maxWrites)) {
      await batch.commit();
      batch = open.db.batch();
      bytes = 0;
      writes = 0;
    }
    await writeEventParts(open, number, event);
    batch.set(eventsOf(open, number).doc(event.id), { ...event.data, seq: index + 1 });
    bytes += size;
    writes += 1;
  }
  await batch.commit();
}

/** Deletes a history without a session, and then its entry in `garbage`. */
export async function removeHistory(open: OpenFirestore, number: string): Promise<void> {
  await deleteAll(open.db, eventsOf(open, number));
  await deleteAll(open.db, partsOf(open, number));
  await open.collection('garbage').doc(number).delete();
}

/** After this time, a write or deletion of a history has ended or was abandoned. */
const abandonedAfterMs = 3_600_000;

/** Deletes abandoned histories. */
export async function sweep(open: OpenFirestore): Promise<void> {
  const left = open
    .collection('garbage')
    .where('since', '<', Date.now() - abandonedAfterMs)
    .limit(20);
  for (const { id } of (await left.get()).docs) await removeHistory(open, id);
}
