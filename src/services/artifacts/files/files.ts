import { join } from 'node:path';
import { AppError } from '../../../base/errors.ts';
import { deepFreeze, type JsonObject, toJson } from '../../../base/json.ts';
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
import { checkArtifactName, isUserArtifact, nextVersion, sizeOf, storedPart } from '../artifact-parts.ts';
import { describeVersion, maxInMemory, partOf, payloadOf } from '../payload.ts';
import { ContainedFolder } from './contained-folder.ts';
import { decodeSegment, encodeSegment } from './file-names.ts';
import {
  collectVersions,
  contentFile,
  type Facts,
  factsFile,
  findVersion,
  type FoundVersion,
  versionNumbers,
} from './version-folders.ts';

const dayMs = 86_400_000;
/** Bytes per read or write. */
const chunkBytes = 256 * 1024;

/** Writes the content of a version into a hidden folder. Returns its metadata. */
type Prepare = (scratch: string) => Promise<Omit<Facts, 'name' | 'createTime'>>;

/**
 * Stores artifacts in files: `apps/APP/users/USER/[sessions/SESSION/]artifacts/NAME/VERSION/`, each name percent-encoded.
 * A version appears atomically, after it was synced to disk. Any number of servers may share the folder.
 */
export class FileArtifacts implements ArtifactService {
  readonly #folder: ContainedFolder;

  constructor(folder: string) {
    this.#folder = new ContainedFolder(folder);
  }

  saveArtifact(key: SessionKey, name: string, artifact: Part, metadata: JsonObject = {}): Promise<number> {
    return this.saveArtifactCopy(key, name, artifact, { version: 0, metadata });
  }

  async saveArtifactCopy(
    key: SessionKey,
    name: string,
    artifact: Part,
    { version, metadata }: CopiedVersion,
  ): Promise<number> {
    checkArtifactName(name);
    const part = storedPart(artifact);
    const { rest, bytes } = payloadOf(part);
    const prepare: Prepare = async (scratch) => {
      if (bytes) await this.#folder.write(scratch, contentFile, [bytes]);
      return { rest, hasBytes: bytes !== undefined, size: sizeOf(part), metadata };
    };
    return this.#save(key, name, prepare, version);
  }

  async saveArtifactContent(
    key: SessionKey,
    name: string,
    { mimeType, bytes }: NewContent,
    metadata: JsonObject = {},
  ): Promise<number> {
    checkArtifactName(name);
    return this.#save(key, name, async (scratch) => {
      const size = await this.#folder.write(scratch, contentFile, bytes);
      return { rest: { inlineData: { mimeType, data: '' } }, hasBytes: true, size, metadata };
    });
  }

  async loadArtifact(key: SessionKey, name: string, version?: number): Promise<Part | undefined> {
    const found = await this.#version(key, name, version);
    if (!found) return undefined;
    const { folder, rest, hasBytes, size = 0 } = found;
    if (!hasBytes) return deepFreeze(rest);
    if (size > maxInMemory) {
      throw new AppError('too_large', `Artifact "${name}" is too large to be loaded as a whole`);
    }
    const file = await this.#folder.open(folder, contentFile);
    if (!file) return this.#loadNewer(key, name, version === undefined ? found : undefined);
    try {
      return partOf({ rest, bytes: await file.readFile() });
    } finally {
      await file.close();
    }
  }

  async openArtifact(key: SessionKey, name: string, version?: number): Promise<StoredContent | undefined> {
    const found = await this.#version(key, name, version);
    if (!found?.hasBytes) return undefined;
    const { size = 0 } = found;
    return {
      about: aboutOf(key, found),
      size,
      read: ({ start, end } = { start: 0, end: size }) => this.#read(found.folder, start, end),
    };
  }

  async listArtifactKeys(key: SessionKey): Promise<string[]> {
    const [session, user] = await Promise.all([this.#names(sessionArtifacts(key)), this.#names(userArtifacts(key))]);
    return [...session, ...user].toSorted();
  }

  async listVersions(key: SessionKey, name: string): Promise<StoredArtifactVersion[]> {
    const place = placeOf(key, name);
    const versions: StoredArtifactVersion[] = [];
    for (const version of await versionNumbers(this.#folder, place)) {
      const found = await findVersion(this.#folder, place, version);
      if (found) versions.push(aboutOf(key, found));
    }
    return versions;
  }

  deleteArtifact(key: SessionKey, name: string): Promise<void> {
    return this.#folder.remove(placeOf(key, name));
  }

  deleteSessionArtifacts(key: SessionKey): Promise<void> {
    return this.#folder.remove(sessionFolder(key));
  }

  /** Also deletes uploads without progress for a day: their server has crashed. */
  async collectGarbage(limits: VersionLimits, options: CollectOptions): Promise<number> {
    if (!options.isTrial) await this.#folder.sweep(dayMs);
    return collectVersions(this.#folder, limits, options);
  }

  check(): Promise<void> {
    return this.#folder.check();
  }

  /** Prepares a version in a hidden folder, and publishes it under the next free number. */
  async #save(key: SessionKey, name: string, prepare: Prepare, atLeast?: number): Promise<number> {
    const place = placeOf(key, name);
    const scratch = await this.#folder.makeScratch();
    try {
      const facts: Facts = { name, createTime: Date.now() / 1000, ...(await prepare(scratch)) };
      await this.#folder.write(scratch, factsFile, [Buffer.from(JSON.stringify(toJson(facts)))]);
      await this.#folder.sync(scratch);
      for (;;) {
        const parent = await this.#folder.make(place);
        const version = nextVersion((await versionNumbers(this.#folder, place)).at(-1), atLeast);
        if (await this.#folder.publish(scratch, join(parent, String(version)), parent)) return version;
      }
    } finally {
      await this.#folder.discard(scratch);
    }
  }

  async #version(key: SessionKey, name: string, version: number | undefined): Promise<FoundVersion | undefined> {
    const place = placeOf(key, name);
    if (version !== undefined) {
      return Number.isSafeInteger(version) && version >= 0 ? findVersion(this.#folder, place, version) : undefined;
    }
    for (let seen: number | undefined; ;) {
      const newest = (await versionNumbers(this.#folder, place)).at(-1);
      const found = newest === undefined ? undefined : await findVersion(this.#folder, place, newest);
      if (found || newest === seen) return found;
      seen = newest; // it has just been deleted, perhaps as an old version
    }
  }

  /** The newest version may have become an old one and been deleted before its content was read: loads the new newest. */
  async #loadNewer(key: SessionKey, name: string, old: FoundVersion | undefined): Promise<Part | undefined> {
    const newest = old && (await this.#version(key, name, undefined));
    return newest && newest.version !== old.version ? this.loadArtifact(key, name) : undefined;
  }

  async #names(folder: readonly string[]): Promise<string[]> {
    const isUser = folder.length === userFolderDepth;
    const names: string[] = [];
    for (const segment of await this.#folder.list(folder)) {
      const [newest] = (await versionNumbers(this.#folder, [...folder, segment])).slice(-1);
      if (newest === undefined) continue;
      const decoded = decodeSegment(segment);
      const known = decoded === undefined ? undefined : isUser ? `user:${decoded}` : decoded;
      const name = known ?? (await findVersion(this.#folder, [...folder, segment], newest))?.name;
      if (name !== undefined) names.push(name);
    }
    return names;
  }

  async *#read(folder: string, start: number, end: number): AsyncGenerator<Uint8Array, void, void> {
    const file = await this.#folder.open(folder, contentFile);
    if (!file) throw new AppError('artifact_not_found', 'The artifact was deleted while it was read');
    try {
      for (let at = start; at < end;) {
        const chunk = Buffer.allocUnsafe(Math.min(chunkBytes, end - at));
        const { bytesRead } = await file.read(chunk, 0, chunk.length, at);
        if (bytesRead === 0) return;
        yield chunk.subarray(0, bytesRead);
        at += bytesRead;
      }
    } finally {
      await file.close();
    }
  }
}

function aboutOf(
  key: SessionKey,
  { name, rest, version, metadata, size, createTime }: FoundVersion,
): StoredArtifactVersion {
  const facts = { version, metadata, ...(size !== undefined && { size }) };
  return { ...describeVersion('file', { key, name }, rest, facts), createTime };
}

const userFolder = ({ appName, userId }: SessionKey): string[] => [
  'apps',
  encodeSegment(appName),
  'users',
  encodeSegment(userId),
];
const sessionFolder = (key: SessionKey): string[] => [...userFolder(key), 'sessions', encodeSegment(key.sessionId)];
const userArtifacts = (key: SessionKey): string[] => [...userFolder(key), 'artifacts'];
const sessionArtifacts = (key: SessionKey): string[] => [...sessionFolder(key), 'artifacts'];
const userFolderDepth = 5;

/** The folder of an artifact's versions. */
function placeOf(key: SessionKey, name: string): string[] {
  return isUserArtifact(name)
    ? [...userArtifacts(key), encodeSegment(name.slice('user:'.length))]
    : [...sessionArtifacts(key), encodeSegment(name)];
}
