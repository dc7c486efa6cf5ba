import { createHash } from 'node:crypto';
import type * as Sdk from '@google-cloud/firestore';
import { AppError } from '../../base/errors.ts';
import type { JsonObject } from '../../base/json.ts';

/** The id of the document for a name: any text may be a name, few may be an id. */
export const documentId = (...names: readonly string[]): string =>
  createHash('sha256').update(JSON.stringify(names)).digest('hex');

/** Bytes of a text that one document takes, with room for the rest of it. */
const maxInline = 900_000;
/** What one commit takes is 10 MiB. */
export const maxCommitBytes = 8_000_000;

/** A text of any length as a document holds it: in itself, or in documents beside it. */
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

/** Stores the parts of a text, which nobody sees until the document is there that counts them. `marks` go into each. */
export async function writeParts(
  folder: Sdk.CollectionReference,
  id: string,
  { parts }: KeptText,
  marks: Sdk.DocumentData = {},
): Promise<void> {
  for (const [index, bytes] of parts.entries()) await folder.doc(`${id}-${index}`).set({ ...marks, bytes });
}

/** The text of a document. `folder` has the parts of it, under `id`. */
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

/** Deletes what a query finds, some at a time. */
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

/** A state's values by key, as JSON: Firestore has no lists of lists, and keeps some names of fields to itself. */
export const fieldName = (key: string): string => JSON.stringify(key);

/** Throws `too_large` for what a document cannot hold. */
export function checkState(set: JsonObject): void {
  let total = 0;
  for (const key of Object.keys(set)) {
    const name = Buffer.byteLength(fieldName(key));
    if (name > maxFieldName) throw new AppError('too_large', 'A key of the state is longer than 1,500 bytes');
    total += name + Buffer.byteLength(JSON.stringify(set[key]));
  }
  if (total > maxValueBytes) throw new AppError('too_large', 'The state is larger than a Firestore document (900 kB)');
}

/** The JSON of a state whose values are kept by field: the names are JSON already, and so are the values. */
export function stateJson(fields: unknown): string {
  const values = Object.entries((fields ?? {}) as Record<string, string>);
  return `{${values.map(([name, value]) => `${name}:${value}`).join(',')}}`;
}
