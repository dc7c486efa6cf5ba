import { AppError } from '../../base/errors.ts';
import { type JsonObject, toJson } from '../../base/json.ts';
import type { Part } from '../../schemas/content.ts';
import { mimeTypeOf, sizeOf } from './artifact-parts.ts';
import type { FoundObject, ObjectFacts } from './bucket.ts';
import { payloadOf } from './payload.ts';

/** What an object of a bucket is: a version of an artifact. */
export interface VersionObject {
  /** What the object's bytes are: those of the part, the JSON of the whole part, or nothing. */
  readonly body: 'bytes' | 'part' | 'none';
  /** The part without its bytes. */
  readonly rest: Part;
  readonly metadata: JsonObject;
  /** Bytes of content where the object's are others. */
  readonly size?: number | undefined;
}

/** Our own account of the object, as JSON. */
const ours = 'agent-about';

/** An object that holds a version's place until its bytes have arrived. */
export const placeholder: ObjectFacts = {
  contentType: 'application/octet-stream',
  metadata: { [ours]: '{"isPending":true}' },
};

export const isPlaceholder = ({ metadata }: ObjectFacts): boolean => metadata[ours] === placeholder.metadata[ours];

/** An object for a part: its bytes, and what is said of them. `id` tells it from all others. */
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

/** The account, and beside it what ADK for TypeScript looks for in its objects. */
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

/** Whether a header may carry the text as it is. */
const isPlain = (text: string): boolean => /^[!-~]+(?: [!-~]+)*$/.test(text);

/** Throws `too_large` when the bucket would not take what is noted of an artifact. */
export function checkMetadata({ metadata }: ObjectFacts, name: string, limit: number): void {
  const size = Object.entries(metadata).reduce((sum, [key, value]) => sum + key.length + value.length, 0);
  if (size <= limit) return;
  const message = `The metadata of artifact "${name}" is too large for a bucket: ${size} bytes, at most ${limit}`;
  throw new AppError('too_large', message);
}

export const idOf = (object: ObjectFacts): string | undefined => accountOf(object)?.id;

/** Reads an object of ours or of an ADK. */
export function versionObjectOf(object: FoundObject): VersionObject {
  const account = accountOf(object);
  if (account) return account;
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

function accountOf({ metadata }: ObjectFacts): (VersionObject & { id: string }) | undefined {
  const text = metadata[ours];
  if (text === undefined || !text.startsWith('{"id":')) return undefined;
  return JSON.parse(text) as VersionObject & { id: string };
}

/** JSON with everything escaped that a header could lose; the rest of a text is left alone. */
function ascii(text: string): string {
  return text.replace(/[^!-~]/g, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
