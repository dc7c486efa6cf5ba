import { AppError } from '../../../base/errors.ts';
import type { SessionKey } from '../../../schemas/session.ts';
import { isUserArtifact } from '../artifact-parts.ts';

// ADK's object names: `APP/USER/SESSION/NAME/VERSION`, and `APP/USER/user/user:NAME/VERSION` for artifacts of the user.
// ADK for TypeScript omits the inner `user:`; such objects are found, too.

/** The limit of object names in bytes, in all bucket services. */
const maxBytes = 1024;

/** The id as one segment of a name; encoded if it contains `/` or equals the user's folder. */
function segment(id: string): string {
  if (id === 'user') return '%75ser';
  return id.replace(/[%/]/g, encodeURIComponent);
}

const ownerFolder = ({ appName, userId }: SessionKey): string =>
  `${appName.replace(/[%/]/g, encodeURIComponent)}/${userId.replace(/[%/]/g, encodeURIComponent)}/`;

export const sessionFolder = (key: SessionKey): string => `${ownerFolder(key)}${segment(key.sessionId)}/`;
export const userFolder = (key: SessionKey): string => `${ownerFolder(key)}user/`;

/** The folders with versions of an artifact; new ones go to the first. Throws `invalid_name`. */
export function versionFolders(prefix: string, key: SessionKey, name: string): string[] {
  const scopeFolder = prefix + (isUserArtifact(name) ? userFolder(key) : sessionFolder(key));
  const place = `${scopeFolder}${name}/`;
  if (Buffer.byteLength(place) > maxBytes - 8) {
    throw new AppError('invalid_name', `Artifact name ${JSON.stringify(name)} is too long for a bucket`);
  }
  const bare = name.slice('user:'.length);
  return isUserArtifact(name) && !isUserArtifact(bare) ? [place, `${scopeFolder}${bare}/`] : [place];
}

/** The name of the artifact of an object. */
export function artifactIn(scopeFolder: string, objectName: string): string | undefined {
  const path = objectName.slice(scopeFolder.length);
  const at = path.lastIndexOf('/');
  return at > 0 && versionIn(path.slice(at + 1)) !== undefined ? path.slice(0, at) : undefined;
}

export function versionIn(segmentText: string): number | undefined {
  return /^(?:0|[1-9]\d{0,14})$/.test(segmentText) ? Number(segmentText) : undefined;
}
