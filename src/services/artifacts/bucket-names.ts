import { AppError } from '../../base/errors.ts';
import type { SessionKey } from '../../schemas/session.ts';
import { isUserArtifact } from './artifact-parts.ts';

// The names ADK gives objects: `APP/USER/SESSION/NAME/VERSION`, and `APP/USER/user/user:NAME/VERSION` for what belongs
// to the user. ADK for TypeScript leaves out the inner `user:`; such objects are found, too.

/** Bytes in the name of an object, everywhere. */
const maxBytes = 1024;

/** As it is, unless that would not be one segment, or the shelf of the user. */
function segment(id: string): string {
  if (id === 'user') return '%75ser';
  return id.replace(/[%/]/g, encodeURIComponent);
}

const ownerFolder = ({ appName, userId }: SessionKey): string =>
  `${appName.replace(/[%/]/g, encodeURIComponent)}/${userId.replace(/[%/]/g, encodeURIComponent)}/`;

export const sessionFolder = (key: SessionKey): string => `${ownerFolder(key)}${segment(key.sessionId)}/`;
export const userFolder = (key: SessionKey): string => `${ownerFolder(key)}user/`;

/** Where the versions of an artifact may lie: the first is where new ones go. Throws `invalid_name`. */
export function versionFolders(prefix: string, key: SessionKey, name: string): string[] {
  const shelf = prefix + (isUserArtifact(name) ? userFolder(key) : sessionFolder(key));
  const place = `${shelf}${name}/`;
  if (Buffer.byteLength(place) > maxBytes - 8) {
    throw new AppError('invalid_name', `Artifact name ${JSON.stringify(name)} is too long for a bucket`);
  }
  const bare = name.slice('user:'.length);
  return isUserArtifact(name) && !isUserArtifact(bare) ? [place, `${shelf}${bare}/`] : [place];
}

/** The name of the artifact an object of a shelf is a version of. */
export function artifactIn(shelf: string, objectName: string): string | undefined {
  const path = objectName.slice(shelf.length);
  const at = path.lastIndexOf('/');
  return at > 0 && versionIn(path.slice(at + 1)) !== undefined ? path.slice(0, at) : undefined;
}

export function versionIn(segmentText: string): number | undefined {
  return /^(?:0|[1-9]\d{0,14})$/.test(segmentText) ? Number(segmentText) : undefined;
}
