import type { Part } from '../../../src/schemas/content.ts';
import type { ArtifactVersion } from '../../../src/schemas/records.ts';
import type { SessionKey } from '../../../src/schemas/session.ts';
import { getJson, sendJson } from './server.ts';
import { sessionPath } from './sessions.ts';

export type { ArtifactVersion, Part };

/** A name may hold slashes; each segment is encoded separately. */
const artifactPath = (key: SessionKey, name: string): string =>
  `${sessionPath(key)}/artifacts/${name.split('/').map(encodeURIComponent).join('/')}`;

export const loadArtifact = (key: SessionKey, name: string, version?: number, signal?: AbortSignal): Promise<Part> =>
  getJson(artifactPath(key, name) + (version === undefined ? '' : `/versions/${version}`), signal);

export const saveArtifact = (key: SessionKey, filename: string, artifact: Part): Promise<ArtifactVersion> =>
  sendJson('POST', `${sessionPath(key)}/artifacts`, { filename, artifact });

export const deleteArtifact = (key: SessionKey, name: string): Promise<null> =>
  sendJson('DELETE', artifactPath(key, name));
