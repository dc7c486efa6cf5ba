import type { ArtifactService, StoredArtifactVersion } from '../../core/services.ts';
import type { IndexedArtifact } from '../../schemas/extensions.ts';
import type { SessionKey } from '../../schemas/session.ts';

/** Parallel calls: remote stores are slow one by one, and refuse too many at once. */
const atOnce = 16;

/** The artifacts of a session and its user with all versions, without content, sorted by name. */
export async function artifactIndex(artifacts: ArtifactService, key: SessionKey): Promise<IndexedArtifact[]> {
  const names = await artifacts.listArtifactKeys(key);
  const found: IndexedArtifact[] = [];
  for (let start = 0; start < names.length; start += atOnce) {
    const entries = await Promise.all(
      names.slice(start, start + atOnce).map(async (name) => entryOf(name, await artifacts.listVersions(key, name))),
    );
    for (const entry of entries) if (entry) found.push(entry);
  }
  return found;
}

/** `undefined` for an artifact that was deleted since it was listed. */
function entryOf(name: string, stored: readonly StoredArtifactVersion[]): IndexedArtifact | undefined {
  const oldest = stored[0];
  const newest = stored.at(-1);
  if (!oldest || !newest) return undefined;
  return {
    name,
    scope: name.startsWith('user:') ? 'user' : 'session',
    ...(newest.mimeType !== undefined && { mimeType: newest.mimeType }),
    ...(newest.size !== undefined && { size: newest.size }),
    createTime: oldest.createTime,
    updateTime: newest.createTime,
    versions: stored.map((version) => {
      const { canonicalUri: _, ...shown } = version; // where a store keeps things is its own business
      return shown;
    }),
  };
}
