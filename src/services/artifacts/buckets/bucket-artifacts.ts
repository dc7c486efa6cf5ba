import { AppError } from '../../../base/errors.ts';
import { deepFreeze, type JsonObject } from '../../../base/json.ts';
import type {
  ArtifactService,
  CollectOptions,
  CopiedVersion,
  NewContent,
  StoredArtifactVersion,
  StoredContent,
  VersionLimits,
} from '../../../core/services.ts';
import type { Part } from '../../../schemas/content.ts';
import type { SessionKey } from '../../../schemas/session.ts';
import { checkArtifactName, isUserArtifact, nextVersion, storedPart } from '../artifact-parts.ts';
import { describeVersion, maxInMemory, partOf } from '../payload.ts';
import { artifactIn, sessionFolder, userFolder, versionFolders, versionIn } from './bucket-names.ts';
import { collectObjects } from './bucket-version-cleanup.ts';
import { type Bucket, each, type FoundObject, type ObjectFacts, retryAfter } from './bucket.ts';
import {
  checkMetadata,
  factsFor,
  idOf,
  isPlaceholder,
  objectFor,
  placeholder,
  type VersionObject,
  versionObjectOf,
} from './object-facts.ts';

interface Found extends VersionObject {
  readonly version: number;
  readonly objectName: string;
  readonly object: FoundObject;
}

/** Attempts to get a version number that other servers take first. */
const maxAttempts = 50;
/** Searches for the newest version, when a listed version was deleted meanwhile. */
const maxSearches = 3;

/**
 * Stores each version of an artifact as an object of a bucket, with ADK's object names. Objects are created and never
 * changed, so any number of servers may share the bucket.
 */
export class BucketArtifacts implements ArtifactService {
  readonly #bucket: Bucket;
  readonly #prefix: string;

  /** `prefix` is empty or ends with a slash. */
  constructor(bucket: Bucket, prefix: string) {
    this.#bucket = bucket;
    this.#prefix = prefix;
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
    const { facts, bytes } = objectFor(storedPart(artifact), metadata, crypto.randomUUID());
    checkMetadata(facts, name, this.#bucket.maxMetadata);
    const { version } = await this.#create(versionFolders(this.#prefix, key, name), facts, bytes, atLeast);
    return version;
  }

  /** Reserves a number with a hidden placeholder object first, because the bytes cannot be sent again. */
  async saveArtifactContent(
    key: SessionKey,
    name: string,
    { mimeType, bytes }: NewContent,
    metadata: JsonObject = {},
  ): Promise<number> {
    checkArtifactName(name);
    const rest = { inlineData: { mimeType, data: '' } };
    const facts = factsFor({ body: 'bytes', rest, metadata }, crypto.randomUUID());
    checkMetadata(facts, name, this.#bucket.maxMetadata);
    const folders = versionFolders(this.#prefix, key, name);
    const { version, objectName } = await this.#create(folders, placeholder, Buffer.alloc(0));
    try {
      await this.#bucket.replace(objectName, facts, bytes);
    } catch (error) {
      // Report the first failure. A placeholder that could not be deleted only wastes a number.
      await this.#bucket.delete(objectName).catch(() => {});
      throw error;
    }
    return version;
  }

  async loadArtifact(key: SessionKey, name: string, version?: number): Promise<Part | undefined> {
    const found = await this.#find(key, name, version);
    if (!found) return undefined;
    const { body, rest, object, objectName } = found;
    if (body === 'none') return deepFreeze(rest);
    if (object.size > maxInMemory) {
      throw new AppError('too_large', `Artifact "${name}" is too large to be loaded as a whole`);
    }
    const chunks = await Array.fromAsync(this.#read(objectName, 0, object.size)).catch(undefinedIfDeleted);
    if (!chunks) {
      const newest = version === undefined ? await this.#find(key, name, undefined) : undefined;
      return newest && newest.version !== found.version ? this.loadArtifact(key, name) : undefined;
    }
    const bytes = Buffer.concat(chunks);
    return body === 'part' ? deepFreeze(JSON.parse(bytes.toString()) as Part) : partOf({ rest, bytes });
  }

  async openArtifact(key: SessionKey, name: string, version?: number): Promise<StoredContent | undefined> {
    const found = await this.#find(key, name, version);
    if (found?.body !== 'bytes') return undefined;
    const { size } = found.object;
    return {
      about: this.#about(key, name, found),
      size,
      read: ({ start, end } = { start: 0, end: size }) => this.#read(found.objectName, start, end),
    };
  }

  async listArtifactKeys(key: SessionKey): Promise<string[]> {
    const [session, user] = await Promise.all([
      this.#names(this.#prefix + sessionFolder(key)),
      this.#names(this.#prefix + userFolder(key)),
    ]);
    const users = user.map((name) => (isUserArtifact(name) ? name : `user:${name}`));
    return [...new Set([...session, ...users])].toSorted();
  }

  async listVersions(key: SessionKey, name: string): Promise<StoredArtifactVersion[]> {
    const versions = await this.#versions(versionFolders(this.#prefix, key, name));
    const found = await each([...versions], (entry) => this.#version(entry));
    return found.flatMap((known) => (known ? [this.#about(key, name, known)] : []));
  }

  async deleteArtifact(key: SessionKey, name: string): Promise<void> {
    const versions = await this.#versions(versionFolders(this.#prefix, key, name), true);
    await each([...versions.values()].flat(), (objectName) => this.#bucket.delete(objectName));
  }

  async deleteSessionArtifacts(key: SessionKey): Promise<void> {
    const objects = await Array.fromAsync(this.#bucket.list(this.#prefix + sessionFolder(key), 'all'));
    await each(objects, ({ name }) => this.#bucket.delete(name));
  }

  collectGarbage(limits: VersionLimits, options: CollectOptions): Promise<number> {
    return collectObjects({ bucket: this.#bucket, prefix: this.#prefix }, limits, options);
  }

  check(): Promise<void> {
    return this.#bucket.check();
  }

  async close(): Promise<void> {
    this.#bucket.close();
  }

  /** Stores an object as the next version. */
  async #create(
    folders: readonly string[],
    facts: ObjectFacts,
    bytes: Uint8Array,
    atLeast?: number,
  ): Promise<{ version: number; objectName: string }> {
    for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
      const version = nextVersion([...(await this.#versions(folders)).keys()].at(-1), atLeast);
      const objectName = `${folders[0]}${version}`;
      if (await this.#bucket.create(objectName, facts, bytes)) return { version, objectName };
      // A request whose response was lost is repeated, and then finds its own object.
      const id = idOf(facts);
      const there = id === undefined ? undefined : await this.#bucket.find(objectName);
      if (there && idOf(there) === id) return { version, objectName };
    }
    throw new AppError('unavailable', 'Too many versions of the artifact are saved at once', { retryAfter });
  }

  /** Version → its objects, ascending. `everywhere`: all objects, if two folders have the same number. */
  async #versions(folders: readonly string[], everywhere = false): Promise<Map<number, string[]>> {
    const lists = await Promise.all(folders.map((folder) => Array.fromAsync(this.#bucket.list(folder, 'direct'))));
    const versions = new Map<number, string[]>();
    for (const [at, objects] of lists.entries()) {
      for (const { name } of objects) {
        const version = versionIn(name.slice(folders[at]?.length));
        if (version === undefined) continue;
        const known = versions.get(version);
        if (!known) versions.set(version, [name]);
        else if (everywhere) known.push(name);
      }
    }
    return new Map([...versions].toSorted(([a], [b]) => a - b));
  }

  async #find(key: SessionKey, name: string, version: number | undefined): Promise<Found | undefined> {
    const folders = versionFolders(this.#prefix, key, name);
    if (version !== undefined) {
      if (!Number.isSafeInteger(version) || version < 0) return undefined;
      for (const folder of folders) {
        const found = await this.#version([version, [`${folder}${version}`]]);
        if (found) return found;
      }
      return undefined;
    }
    for (let look = 0; look < maxSearches; look += 1) {
      const versions = [...(await this.#versions(folders))];
      for (const entry of versions.toReversed()) {
        const found = await this.#version(entry);
        if (found) return found;
      }
      if (versions.length === 0) break;
    }
    return undefined;
  }

  async #version([version, [objectName = '']]: [number, string[]]): Promise<Found | undefined> {
    const object = await this.#bucket.find(objectName);
    if (!object || isPlaceholder(object)) return undefined;
    return { ...versionObjectOf(object), version, objectName, object };
  }

  /** Names of the artifacts in a folder that have a version. Empty objects may be placeholders. */
  async #names(scopeFolder: string): Promise<string[]> {
    const sure = new Set<string>();
    const unsure = new Map<string, string[]>();
    for await (const { name: objectName, size } of this.#bucket.list(scopeFolder, 'all')) {
      const name = artifactIn(scopeFolder, objectName);
      if (name === undefined || sure.has(name)) continue;
      if (size > 0) sure.add(name);
      else unsure.set(name, [...(unsure.get(name) ?? []), objectName]);
    }
    const doubtful = [...unsure].filter(([name]) => !sure.has(name));
    await each(doubtful, async ([name, objectNames]) => {
      for (const objectName of objectNames) {
        if (!sure.has(name) && (await this.#version([0, [objectName]]))) sure.add(name);
      }
    });
    return [...sure];
  }

  #about(key: SessionKey, name: string, found: Found): StoredArtifactVersion {
    const { version, rest, metadata, size, body, object, objectName } = found;
    const bytes = body === 'bytes' ? object.size : size;
    const facts = { version, metadata, ...(bytes !== undefined && { size: bytes }) };
    const about = describeVersion('bucket', { key, name }, rest, facts);
    const canonicalUri = rest.fileData?.fileUri ?? `${this.#bucket.uri}/${objectName}`;
    return { ...about, canonicalUri, createTime: object.createTime };
  }

  async *#read(objectName: string, start: number, end: number): AsyncGenerator<Uint8Array, void, void> {
    if (start < end) yield* this.#bucket.read(objectName, { start, end });
  }
}

/** `undefined` for an object that was deleted before it was read, perhaps as an old version. */
function undefinedIfDeleted(error: unknown): undefined {
  if (!(error instanceof AppError && error.code === 'artifact_not_found')) throw error;
}
