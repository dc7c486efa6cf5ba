import { createHash } from 'node:crypto';
import type * as Sdk from '@google-cloud/firestore';
import { AppError } from '../../base/errors.ts';
import type { JsonObject } from '../../base/json.ts';

/** The document id for a name. A digest, because ids allow fewer texts than names. */
export const documentId = (...names: readonly string[]): string =>
  createHash('sha256').update(JSON.stringify(names)).digest('hex');

/** Bytes of a text in one document, which leaves room for its other fields. */
const maxInline = 900_000;
/** The limit of a commit is 10 MiB. */
export const maxCommitBytes = 8_000_000;

/** A text of any length: inside a document, or in part documents. */
export interface KeptText {
  /** Fields of the document. */
  readonly fields: { readonly text: string } | { readonly parts: number };
  readonly parts: readonly Buffer[];
  /** Bytes of the whole. */
  readonly size: number;
}

export function keptText(text: string): KeptText {
  const bytes = Buffer.from(text);
  if (bytes.length <= maxInline) return { fields: { text }, parts: [], size: bytes.length };
  const parts: Buffer[] = [];
  for (let start = 0; start < bytes.length; start += maxInline) parts.push(bytes.subarray(start, start + maxInline));
  return { fields: { parts: parts.length }, parts, size: bytes.length };
}

/** Stores the parts of a text. They are not visible until the document with their number exists. Each gets the fields of `marks`. */
export async function writeParts(
  folder: Sdk.CollectionReference,
  id: string,
  { parts }: KeptText,
  marks: Sdk.DocumentData = {},
): Promise<void> {
  for (const [index, bytes] of parts.entries()) await folder.doc(`${id}-${index}`).set({ ...marks, bytes });
}

/** The text of a document. `folder` has its parts, under `id`. */
export async function readText(
  document: Sdk.DocumentSnapshot,
  folder: Sdk.CollectionReference,
  id: string,
): Promise<string> {
  const text: unknown = document.get('text');
  if (typeof text === 'string') return text;
  const count = Number(document.get('parts') ?? 0);
  const pieces: Buffer[] = [];
  for (let index = 0; index < count; index += 1) {
    const bytes: unknown = (await folder.doc(`${id}-${index}`).get()).get('bytes');
    if (!Buffer.isBuffer(bytes)) throw new AppError('internal', `Part ${index} of a stored text is missing`);
    pieces.push(bytes);
  }
  return Buffer.concat(pieces).toString();
}

/** Deletes the results of a query, in batches. */
export async function deleteAll(db: Sdk.Firestore, query: Sdk.Query): Promise<void> {
  for (;;) {
    const { docs } = await query.select().limit(300).get();
    if (docs.length === 0) return;
    const batch = db.batch();
    for (const { ref } of docs) batch.delete(ref);
    await batch.commit();
  }
}

/** Longest name of a field, in bytes. */
const maxFieldName = 1500;
const maxValueBytes = 900_000;

/** The field name of a state key. Keys and values are stored as JSON, because Firestore has no nested lists, and reserves some names. */
export const fieldName = (key: string): string => JSON.stringify(key);

/** Throws `too_large` for a state that does not fit into a document. */
export function checkState(set: JsonObject): void {
  let total = 0;
  for (const key of Object.keys(set)) {
    const name = Buffer.byteLength(fieldName(key));
    if (name > maxFieldName) throw new AppError('too_large', 'A key of the state is longer than 1,500 bytes');
    total += name + Buffer.byteLength(JSON.stringify(set[key]));
  }
  if (total > maxValueBytes) throw new AppError('too_large', 'The state is larger than a Firestore document (900 kB)');
}

/** The JSON of a state, from its fields: names and values are JSON already. */
export function stateJson(fields: unknown): string {
  const values = Object.entries((fields ?? {}) as Record<string, string>);
  return `{${values.map(([name, value]) => `${name}:${value}`).join(',')}}`;
}
