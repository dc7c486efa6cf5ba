import { AppError } from '../../../base/errors.ts';
import { type JsonObject, toJson } from '../../../base/json.ts';
import type { Part } from '../../../schemas/content.ts';
import { mimeTypeOf, sizeOf } from '../artifact-parts.ts';
import { payloadOf } from '../payload.ts';
import type { FoundObject, ObjectFacts } from './bucket.ts';

/** An object of a bucket as a version of an artifact. */
export interface VersionObject {
  /** The content of the object: the bytes of the part, the JSON of the whole part, or nothing. */
  readonly body: 'bytes' | 'part' | 'none';
  /** The part without its bytes. */
  readonly rest: Part;
  readonly metadata: JsonObject;
  /** Size of the artifact's content, if it differs from the object's. */
  readonly size?: number | undefined;
}

/** The metadata key for our description of the object, as JSON. */
const ours = 'agent-about';

/** An object that reserves a version number until the bytes have arrived. */
export const placeholder: ObjectFacts = {
  contentType: 'application/octet-stream',
  metadata: { [ours]: '{"isPending":true}' },
};

export const isPlaceholder = ({ metadata }: ObjectFacts): boolean => metadata[ours] === placeholder.metadata[ours];

/** The object for a part: its bytes and metadata. `id` identifies this attempt. */
export function objectFor(part: Part, metadata: JsonObject, id: string): { facts: ObjectFacts; bytes: Uint8Array } {
  const { rest, bytes } = payloadOf(part);
  if (bytes) return { facts: factsFor({ body: 'bytes', rest, metadata }, id), bytes };
  if (part.fileData && Buffer.byteLength(JSON.stringify(part)) < 1024) {
    return { facts: factsFor({ body: 'none', rest, metadata }, id), bytes: Buffer.alloc(0) };
  }
  const { inlineData, fileData } = part;
  const empty = fileData ? { fileData: { fileUri: '' } } : { text: '' };
  const outline = inlineData ? { inlineData: { mimeType: inlineData.mimeType, data: '' } } : empty;
  return {
    facts: factsFor({ body: 'part', rest: outline, metadata, size: sizeOf(part) }, id),
    bytes: Buffer.from(JSON.stringify(part)),
  };
}

/** Our description, and the metadata that ADK for TypeScript needs. */
export function factsFor(version: VersionObject, id: string): ObjectFacts {
  const { body, rest, metadata, size } = version;
  const { fileUri, mimeType } = (body === 'none' && rest.fileData) || {};
  const type = body === 'part' ? 'application/json' : mimeTypeOf(rest);
  return {
    contentType: type !== undefined && isPlain(type) ? type : 'application/octet-stream',
    metadata: {
      [ours]: ascii(JSON.stringify({ id, body, rest, metadata: toJson(metadata), size })),
      ...(body === 'bytes' && !rest.inlineData && { adkIsText: 'true' }),
      ...(fileUri !== undefined && isPlain(fileUri) && { adkFileUri: fileUri }),
      ...(mimeType !== undefined && isPlain(mimeType) && { adkFileMimeType: mimeType }),
    },
  };
}

/** Whether a header can contain the text unchanged. */
const isPlain = (text: string): boolean => /^[!-~]+(?: [!-~]+)*$/.test(text);

/** Throws `too_large` when the metadata exceeds the bucket's limit. */
export function checkMetadata({ metadata }: ObjectFacts, name: string, limit: number): void {
  const size = Object.entries(metadata).reduce((sum, [key, value]) => sum + key.length + value.length, 0);
  if (size <= limit) return;
  const message = `The metadata of artifact "${name}" is too large for a bucket: ${size} bytes, at most ${limit}`;
  throw new AppError('too_large', message);
}

export const idOf = (object: ObjectFacts): string | undefined => descriptionOf(object)?.id;

/** Reads an object of this server or of an ADK server. */
export function versionObjectOf(object: FoundObject): VersionObject {
  const description = descriptionOf(object);
  if (description) return description;
  const { adkIsText, adkFileUri, adkFileMimeType, adkDisplayName, ...metadata } = object.metadata;
  if (adkFileUri !== undefined && adkFileUri !== '') {
    const fileData = { fileUri: adkFileUri, ...(adkFileMimeType !== undefined && { mimeType: adkFileMimeType }) };
    return { body: 'none', rest: { fileData }, metadata };
  }
  if (adkIsText === 'true') return { body: 'bytes', rest: { text: '' }, metadata };
  const inlineData = {
    mimeType: object.contentType,
    data: '',
    ...(adkDisplayName !== undefined && { displayName: adkDisplayName }),
  };
  return { body: 'bytes', rest: { inlineData }, metadata };
}

function descriptionOf({ metadata }: ObjectFacts): (VersionObject & { id: string }) | undefined {
  const text = metadata[ours];
  if (text === undefined || !text.startsWith('{"id":')) return undefined;
  return JSON.parse(text) as VersionObject & { id: string };
}

/** Escapes the characters of a JSON text that a header could lose. */
function ascii(text: string): string {
  return text.replace(/[^!-~]/g, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
