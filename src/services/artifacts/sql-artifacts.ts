import { AppError } from '../../base/errors.ts';
import { deepFreeze, type JsonObject, toJson } from '../../base/json.ts';
import type {
  ArtifactService,
  CollectOptions,
  CopiedVersion,
  StoredArtifactVersion,
  VersionLimits,
} from '../../core/services.ts';
import type { Part } from '../../schemas/content.ts';
import type { SessionKey } from '../../schemas/session.ts';
import { inBatches } from '../in-batches.ts';
import { plausibleTimes, implausibleTime } from '../plausible-time.ts';
import { checkArtifactName, isUserArtifact, mimeTypeOf, sizeOf, storedPart } from './artifact-parts.ts';
import type { ArtifactKey, ArtifactRow, ArtifactTables } from './artifact-tables.ts';
import { hasLimits } from './old-versions.ts';
import { describeVersion, partOf, payloadOf } from './payload.ts';

/** Bytes of an artifact per database row. */
const chunkBytes = 1024 * 1024;
/** Databases are for small artifacts; larger ones belong into files or buckets. */
const maxBytes = 100 * 1024 * 1024;
/** Versions per transaction, so that other writes do not wait long. */
const deletedAtOnce = 200;

/** Stores artifacts in a relational database, each version in one transaction. */
export class SqlArtifacts implements ArtifactService {
  readonly #tables: ArtifactTables;

  constructor(tables: ArtifactTables) {
    this.#tables = tables;
  }

  saveArtifact(key: SessionKey, name: string, artifact: Part, metadata: JsonObject = {}): Promise<number> {
    return this.saveArtifactCopy(key, name, artifact, { version: 0, metadata });
  }

  async saveArtifactCopy(
    key: SessionKey,
    name: string,
    artifact: Part,
    { version: atLeast, metadata }: CopiedVersion,
  ): Promise<number> {
    checkArtifactName(name);
    const part = storedPart(artifact);
    const { rest, bytes } = payloadOf(part);
    const size = bytes?.length ?? sizeOf(part) ?? 0;
    if (size > maxBytes) {
      throw new AppError(
        'too_large',
        `Artifact "${name}" is too large for a database: ${size} bytes, at most ${maxBytes}`,
      );
    }
    return this.#tables.save({
      key: keyFor(key, name),
      atLeast,
      part: JSON.stringify(rest),
      metadata: JSON.stringify(toJson(metadata)),
      mimeType: mimeTypeOf(part) ?? null,
      size,
      createdAt: Date.now() / 1000,
      chunks: bytes ? chunksOf(bytes) : [],
    });
  }

  async loadArtifact(key: SessionKey, name: string, version?: number): Promise<Part | undefined> {
    const artifact = keyFor(key, name);
    const rows = await this.#tables.versions(artifact);
    const row = version === undefined ? rows.at(-1) : rows.find((known) => known.version === version);
    if (!row) return undefined;
    const rest = JSON.parse(row.part) as Part;
    if (!row.hasBytes) return deepFreeze(rest);
    const chunks = await this.#tables.bytes(artifact, row.version);
    if (chunks.length > 0) return partOf({ rest, bytes: Buffer.concat(chunks) });
    // The version has just been deleted. If it was the newest, there may be a newer one now.
    return version === undefined ? this.loadArtifact(key, name) : undefined;
  }

  async listArtifactKeys(key: SessionKey): Promise<string[]> {
    return (await this.#tables.names(key)).toSorted();
  }

  async listVersions(key: SessionKey, name: string): Promise<StoredArtifactVersion[]> {
    const rows = await this.#tables.versions(keyFor(key, name));
    return rows.map((row) => aboutOf(row, key, name));
  }

  deleteArtifact(key: SessionKey, name: string): Promise<void> {
    return this.#tables.delete(keyFor(key, name));
  }

  deleteSessionArtifacts(key: SessionKey): Promise<void> {
    return this.#tables.deleteSession(key);
  }

  async collectGarbage(limits: VersionLimits, { signal, isTrial }: CollectOptions): Promise<number> {
    if (!hasLimits(limits)) return 0;
    if (limits.savedBefore !== undefined) await this.#requirePlausibleTimes();
    if (isTrial) return this.#tables.countOld(limits);
    return inBatches(deletedAtOnce, signal, () => this.#tables.deleteOld(limits, deletedAtOnce));
  }

  async #requirePlausibleTimes(): Promise<void> {
    const { earliestMs, latestMs } = plausibleTimes();
    const odd = await this.#tables.findImplausible(earliestMs / 1000, latestMs / 1000);
    if (odd) throw implausibleTime(`Artifact "${odd.name}"`, 'agent_artifacts.created_at', odd.createdAt);
  }

  check(): Promise<void> {
    return this.#tables.check();
  }

  close(): Promise<void> {
    return this.#tables.close();
  }
}

const keyFor = (key: SessionKey, name: string): ArtifactKey => ({
  appName: key.appName,
  userId: key.userId,
  sessionId: isUserArtifact(name) ? '' : key.sessionId,
  name,
});

function aboutOf(row: ArtifactRow, key: SessionKey, name: string): StoredArtifactVersion {
  const part = JSON.parse(row.part) as Part;
  const metadata = JSON.parse(row.metadata) as JsonObject;
  const size = part.fileData ? undefined : row.size;
  const about = describeVersion('database', { key, name }, part, { version: row.version, metadata, size });
  return { ...about, createTime: row.createdAt };
}

/** At least one chunk, so that an empty artifact has bytes, too. */
function chunksOf(bytes: Buffer): Uint8Array[] {
  const chunks: Uint8Array[] = [];
  for (let at = 0; at === 0 || at < bytes.length; at += chunkBytes) chunks.push(bytes.subarray(at, at + chunkBytes));
  return chunks;
}
