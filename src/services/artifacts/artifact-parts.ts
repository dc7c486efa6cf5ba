import { AppError } from '../../base/errors.ts';
import { deepFreeze, toJson } from '../../base/json.ts';
import type { Part } from '../../schemas/content.ts';
import { nameFault } from '../../schemas/names.ts';

const userPrefix = 'user:';

/** Whether the artifact belongs to the user, and not to one session. */
export const isUserArtifact = (name: string): boolean => name.startsWith(userPrefix);

/** Throws `invalid_name` for a name that some store could not use. It may contain `/`, but no path out of its folder. */
export function checkArtifactName(name: string): void {
  const fault = nameFault(isUserArtifact(name) ? name.slice(userPrefix.length) : name, true);
  if (fault) throw new AppError('invalid_name', `Artifact name ${JSON.stringify(name)} ${fault}`);
}

/**
 * The number of the next version: after the newest one that exists, from 0; a copy has at least the number of its original.
 * The statements in `sqlite-writes.ts` and `postgres.ts` compute the same.
 */
export const nextVersion = (newest: number | undefined, atLeast = 0): number => Math.max((newest ?? -1) + 1, atLeast);

/** A frozen copy of the storable members: inline data, text or a file reference. Throws `invalid_request` for any other part. */
export function storedPart(artifact: Part): Part {
  if (artifact.inlineData === undefined && artifact.text === undefined && artifact.fileData === undefined) {
    throw new AppError('invalid_request', 'An artifact must hold inlineData, text or fileData');
  }
  return deepFreeze(toJson(artifact)) as Part;
}

export function mimeTypeOf(artifact: Part): string | undefined {
  if (artifact.inlineData) return artifact.inlineData.mimeType;
  return artifact.text === undefined ? artifact.fileData?.mimeType : 'text/plain';
}

/** Bytes of content; `undefined` for a reference. */
export function sizeOf({ inlineData, text }: Part): number | undefined {
  if (inlineData) return Buffer.byteLength(inlineData.data, 'base64url');
  return text === undefined ? undefined : Buffer.byteLength(text);
}
