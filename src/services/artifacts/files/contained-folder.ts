import { constants } from 'node:fs';
import { type FileHandle, lstat, mkdir, open, readdir, realpath, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { diskFailure, diskRetryAfter as retryAfter } from '../../../base/disk-failure.ts';
import { AppError } from '../../../base/errors.ts';

/** The prefix of unfinished and deleted folders. No encoded name starts with it. */
const scratchPrefix = '.new-';
const scratchName = (): string => `${scratchPrefix}${crypto.randomUUID()}`;

const codeOf = (error: unknown): unknown => (error instanceof Error && 'code' in error ? error.code : undefined);

/**
 * Access to the files below a folder, by path segments. Rejects links, and everything else that is not a folder or a
 * regular file. Failures of the disk are `unavailable`.
 */
export class ContainedFolder {
  readonly #given: string;
  #root: string | undefined;

  constructor(folder: string) {
    this.#given = folder;
  }

  /** Creates the missing folders of a path, including the root. */
  async make(segments: readonly string[]): Promise<string> {
    return this.#onDisk(async () => {
      this.#root = undefined;
      let path = await this.#rootPath();
      for (const segment of segments) {
        path = join(path, segment);
        await mkdir(path).catch((error: unknown) => {
          if (codeOf(error) !== 'EEXIST') throw error;
        });
        if (!(await lstat(path)).isDirectory()) throw notContained();
      }
      return path;
    });
  }

  /** Creates a hidden folder. */
  makeScratch(): Promise<string> {
    return this.make([scratchName()]);
  }

  /** Deletes a scratch folder if possible; otherwise a later `sweep` does. */
  async discard(scratch: string): Promise<void> {
    await rm(scratch, { recursive: true, force: true }).catch(() => {});
  }

  /** The path of a folder; `undefined` if it does not exist. */
  async find(segments: readonly string[]): Promise<string | undefined> {
    return this.#onDisk(async () => {
      const path = join(await this.#rootPath(), ...segments);
      try {
        if ((await realpath(path)) !== path || !(await lstat(path)).isDirectory()) throw notContained();
        return path;
      } catch (error) {
        if (isMissing(error)) return undefined;
        throw error;
      }
    });
  }

  /** Names of the folders in a folder. */
  async list(segments: readonly string[]): Promise<string[]> {
    const path = await this.find(segments);
    if (path === undefined) return [];
    return this.#onDisk(async () => {
      try {
        const entries = await readdir(path, { withFileTypes: true });
        return entries.filter((entry) => entry.isDirectory() && !entry.name.startsWith('.')).map(({ name }) => name);
      } catch (error) {
        if (isMissing(error)) return [];
        throw error;
      }
    });
  }

  /** Opens a file for reading; `undefined` if it does not exist. */
  async open(folder: string, name: string): Promise<FileHandle | undefined> {
    return this.#onDisk(async () => {
      try {
        return await open(join(folder, name), constants.O_RDONLY | constants.O_NOFOLLOW);
      } catch (error) {
        if (isMissing(error)) return undefined;
        throw codeOf(error) === 'ELOOP' ? notContained() : error;
      }
    });
  }

  /** Writes a new file and syncs it to disk. */
  async write(folder: string, name: string, chunks: Iterable<Uint8Array> | AsyncIterable<Uint8Array>): Promise<number> {
    return this.#onDisk(async () => {
      const file = await open(join(folder, name), 'wx', 0o600);
      try {
        let size = 0;
        for await (const chunk of chunks) {
          size += chunk.byteLength;
          for (let at = 0; at < chunk.byteLength;) at += (await file.write(chunk, at)).bytesWritten;
        }
        await file.sync();
        return size;
      } finally {
        await file.close();
      }
    });
  }

  /** Syncs the names in a folder to disk. */
  async sync(folder: string): Promise<void> {
    await this.#onDisk(() => syncFolder(folder));
  }

  /** Gives a folder its final name. Returns false if the name is taken. */
  async publish(folder: string, target: string, parent: string): Promise<boolean> {
    return this.#onDisk(async () => {
      try {
        await rename(folder, target);
      } catch (error) {
        const isTaken = await isThere(target);
        // The parent does not exist: another request has just deleted the artifact.
        if (isTaken || (isMissing(error) && (await isThere(folder)))) return false;
        throw error;
      }
      await syncFolder(parent);
      return true;
    });
  }

  /** Renames a file in a folder. Returns false if it does not exist. */
  async rename(folder: string, name: string, newName: string): Promise<boolean> {
    return this.#onDisk(async () => {
      try {
        await rename(join(folder, name), join(folder, newName));
        return true;
      } catch (error) {
        if (isMissing(error)) return false;
        throw error;
      }
    });
  }

  /** Deletes a file in a folder, if it exists. */
  async delete(folder: string, name: string): Promise<void> {
    await this.#onDisk(() => rm(join(folder, name), { force: true }));
  }

  /** Hides a folder atomically, then deletes it. */
  async remove(segments: readonly string[]): Promise<void> {
    const path = await this.find(segments);
    if (path === undefined) return;
    await this.#onDisk(async () => {
      const gone = join(await this.#rootPath(), scratchName());
      try {
        await rename(path, gone);
      } catch (error) {
        if (isMissing(error)) return;
        throw error;
      }
      await rm(gone, { recursive: true, force: true });
    });
  }

  /** Deletes unfinished folders of servers that crashed. */
  async sweep(olderThanMs: number): Promise<void> {
    await this.#onDisk(async () => {
      const root = await this.#rootPath();
      for (const name of await readdir(root)) {
        if (!name.startsWith(scratchPrefix)) continue;
        const path = join(root, name);
        const about = await lstat(path).catch(() => undefined);
        if (about && about.mtimeMs < Date.now() - olderThanMs) await rm(path, { recursive: true, force: true });
      }
    });
  }

  /** Resolves when a file can be written: there is disk space and the permission. */
  async check(): Promise<void> {
    const scratch = await this.makeScratch();
    try {
      await this.write(scratch, 'check', [Buffer.alloc(1)]);
    } finally {
      await this.discard(scratch);
    }
  }

  async #rootPath(): Promise<string> {
    if (this.#root !== undefined) return this.#root;
    await mkdir(this.#given, { recursive: true });
    this.#root = await realpath(this.#given);
    return this.#root;
  }

  async #onDisk<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      const trouble = troubles[String(codeOf(error))];
      if (trouble !== undefined) throw new AppError('unavailable', trouble, { cause: error, retryAfter });
      throw diskFailure(error, 'The disk of the artifacts') ?? error;
    }
  }
}

const troubles: Readonly<Record<string, string>> = {
  ENOENT: 'The folder of the artifacts was deleted meanwhile',
  ENOTDIR: 'The folder of the artifacts is not a folder',
  EEXIST: 'The folder of the artifacts is not a folder',
};

const isMissing = (error: unknown): boolean => codeOf(error) === 'ENOENT';
const isThere = (path: string): Promise<boolean> =>
  lstat(path).then(
    () => true,
    () => false,
  );
const notContained = (): AppError => new AppError('forbidden', 'An artifact folder is a link or not a folder');

async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
