import { AppError } from '../../base/errors.ts';
import type { JsonObject } from '../../base/json.ts';
import { roughSize } from '../../base/rough-size.ts';
import type {
  ArtifactService,
  CollectOptions,
  CopiedVersion,
  StoredArtifactVersion,
  VersionLimits,
} from '../../core/services.ts';
import type { Part } from '../../schemas/content.ts';
import type { SessionKey } from '../../schemas/session.ts';
import { checkArtifactName, isUserArtifact, nextVersion, storedPart } from './artifact-parts.ts';
import { oldVersions } from './old-versions.ts';
import { describeVersion } from './payload.ts';

interface StoredVersion {
  readonly artifact: Part;
  readonly about: StoredArtifactVersion;
  readonly bytes: number;
}

/** Artifact name → its versions, ascending. */
type ArtifactScope = Map<string, StoredVersion[]>;

/** Stores artifacts until the process ends: one map for each session and one for each user. */
export class InMemoryArtifacts implements ArtifactService {
  readonly #scopes = new Map<string, ArtifactScope>();
  readonly #maxBytes: number;
  #bytes = 0;

  /** `maxBytes`: approximate limit for all artifacts; a save beyond it throws `storage_full`. */
  constructor({ maxBytes = Infinity }: { readonly maxBytes?: number } = {}) {
    this.#maxBytes = maxBytes;
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
    const stored = storedPart(artifact);
    const bytes = versionBytes + roughSize(stored) + roughSize(metadata);
    if (this.#bytes + bytes > this.#maxBytes) {
      const advice = 'delete some, or keep them in files, a bucket or a database';
      throw new AppError('storage_full', `There is no room for more artifacts in memory: ${advice}`);
    }
    this.#bytes += bytes;
    const scopeKey = scopeKeyFor(key, name);
    const scope: ArtifactScope = this.#scopes.get(scopeKey) ?? new Map<string, StoredVersion[]>();
    const versions = scope.get(name) ?? [];
    const version = nextVersion(versions.at(-1)?.about.version, atLeast);
    const about = describeVersion('memory', { key, name }, stored, { version, metadata });
    versions.push({ artifact: stored, about, bytes });
    scope.set(name, versions);
    this.#scopes.set(scopeKey, scope);
    return version;
  }

  async loadArtifact(key: SessionKey, name: string, version?: number): Promise<Part | undefined> {
    const versions = this.#versions(key, name);
    const found = version === undefined ? versions.at(-1) : versions.find(({ about }) => about.version === version);
    return found?.artifact;
  }

  async listArtifactKeys(key: SessionKey): Promise<string[]> {
    const session = this.#scopes.get(sessionScope(key))?.keys() ?? [];
    const user = this.#scopes.get(userScope(key))?.keys() ?? [];
    return [...session, ...user].toSorted();
  }

  async listVersions(key: SessionKey, name: string): Promise<StoredArtifactVersion[]> {
    return this.#versions(key, name).map((stored) => stored.about);
  }

  async deleteArtifact(key: SessionKey, name: string): Promise<void> {
    const scopeKey = scopeKeyFor(key, name);
    const scope = this.#scopes.get(scopeKey);
    this.#release(scope?.get(name) ?? []);
    scope?.delete(name);
    if (scope?.size === 0) this.#scopes.delete(scopeKey);
  }

  async deleteSessionArtifacts(key: SessionKey): Promise<void> {
    for (const versions of this.#scopes.get(sessionScope(key))?.values() ?? []) this.#release(versions);
    this.#scopes.delete(sessionScope(key));
  }

  async collectGarbage(limits: VersionLimits, { signal, isTrial }: CollectOptions): Promise<number> {
    signal.throwIfAborted();
    let count = 0;
    for (const scope of this.#scopes.values()) {
      for (const [name, versions] of scope) {
        const old = new Set(oldVersions(name, versions.map(aboutOf), limits));
        count += old.size;
        if (isTrial || old.size === 0) continue;
        this.#release(versions.filter(({ about }) => old.has(about)));
        scope.set(
          name,
          versions.filter(({ about }) => !old.has(about)),
        );
      }
    }
    return count;
  }

  #release(versions: readonly StoredVersion[]): void {
    for (const { bytes } of versions) this.#bytes -= bytes;
  }

  #versions(key: SessionKey, name: string): readonly StoredVersion[] {
    return this.#scopes.get(scopeKeyFor(key, name))?.get(name) ?? [];
  }
}

/** Memory of a version besides its content. */
const versionBytes = 512;

const aboutOf = ({ about }: StoredVersion): StoredArtifactVersion => about;

const sessionScope = ({ appName, userId, sessionId }: SessionKey): string =>
  JSON.stringify([appName, userId, sessionId]);
const userScope = ({ appName, userId }: SessionKey): string => JSON.stringify([appName, userId]);
const scopeKeyFor = (key: SessionKey, name: string): string =>
  isUserArtifact(name) ? userScope(key) : sessionScope(key);
