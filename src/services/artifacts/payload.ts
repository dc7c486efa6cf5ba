import { deepFreeze, type JsonObject, toJson } from '../../base/json.ts';
import type { StoredArtifactVersion } from '../../core/services.ts';
import type { Part } from '../../schemas/content.ts';
import type { SessionKey } from '../../schemas/session.ts';
import { isUserArtifact, mimeTypeOf, sizeOf } from './artifact-parts.ts';

/** A part split for a store: its bytes, and the rest of it. */
export interface Payload {
  readonly rest: Part;
  /** Absent without bytes, and where decoding them would not give exactly the same part. */
  readonly bytes?: Buffer;
}

/** Limit for artifacts that are loaded whole: a larger one would not fit into one string as base64. */
export const maxInMemory = 350 * 1024 * 1024;

export function payloadOf(part: Part): Payload {
  const { inlineData, text } = part;
  if (inlineData) {
    const bytes = Buffer.from(inlineData.data, 'base64');
    if (bytes.toString('base64') === inlineData.data)
      return { rest: { ...part, inlineData: { ...inlineData, data: '' } }, bytes };
  } else if (text?.isWellFormed()) {
    return { rest: { ...part, text: '' }, bytes: Buffer.from(text) };
  }
  return { rest: part };
}

/** The part of a payload, frozen. */
export function partOf({ rest, bytes }: Payload): Part {
  if (!bytes) return deepFreeze(rest);
  if (rest.inlineData)
    return deepFreeze({ ...rest, inlineData: { ...rest.inlineData, data: bytes.toString('base64') } });
  return deepFreeze({ ...rest, text: bytes.toString() });
}

export interface VersionFacts {
  readonly version: number;
  readonly metadata: JsonObject;
  /** Bytes, where they are not in the part itself. */
  readonly size?: number;
}

/** The description of a new version of an artifact. `scheme` names the store. */
export function describeVersion(
  scheme: string,
  { key, name }: { key: SessionKey; name: string },
  part: Part,
  { version, metadata, size = sizeOf(part) }: VersionFacts,
): StoredArtifactVersion {
  const owner = `apps/${encodeURIComponent(key.appName)}/users/${encodeURIComponent(key.userId)}`;
  const place = isUserArtifact(name) ? owner : `${owner}/sessions/${encodeURIComponent(key.sessionId)}`;
  const mimeType = mimeTypeOf(part);
  return deepFreeze({
    version,
    canonicalUri:
      part.fileData?.fileUri ?? `${scheme}://${place}/artifacts/${encodeURIComponent(name)}/versions/${version}`,
    customMetadata: toJson(metadata) as JsonObject,
    createTime: Date.now() / 1000,
    ...(mimeType === undefined ? {} : { mimeType }),
    ...(size === undefined ? {} : { size }),
  });
}
