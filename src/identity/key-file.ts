import { type BigIntStats } from 'node:fs';
import { type FileHandle, open, readFile, realpath, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { z } from 'zod';
import { delay } from '../base/abort.ts';
import { diskFailure } from '../base/disk-failure.ts';
import { AppError, errorText } from '../base/errors.ts';
import type { KeyStore } from '../core/key-store.ts';
import type { Log } from '../core/log.ts';
import { ApiKey } from '../schemas/api-key.ts';

const KeyFileContent = z.strictObject({ keys: z.array(ApiKey) }).superRefine(({ keys }, ctx) => {
  if (new Set(keys.map(({ id }) => id)).size < keys.length)
    ctx.addIssue({ code: 'custom', message: 'has an id twice' });
});

/** Milliseconds between two looks at the lock. */
const lockPauseMs = 20;
/** Clocks of file systems tick every few milliseconds: a file that changed just now is read again the next time. */
const tickMs = 50n;

export interface KeyFileOptions {
  readonly path: string;
  readonly log: Pick<Log, 'warn'>;
  /** Milliseconds a change waits for another one to end. Default 5,000. */
  readonly lockMs?: number;
}

/**
 * Keeps API keys in a JSON file, `{ "keys": [ … ] }`, which people may edit. Each `list` looks whether the file has
 * changed. A file that is gone or broken is logged, and the keys that were read last stay in use, so that a
 * typing error locks no caller out. Throws `ConfigurationException` if no keys were read before.
 */
export class KeyFile implements KeyStore {
  readonly #path: string;
  readonly #log: Pick<Log, 'warn'>;
  readonly #lockMs: number;
  #keys: readonly ApiKey[] | undefined;
  /** The state of the file that was read last, whether it was good or not; empty if the next look has to read it. */
  #stamp = '';
  /** What was logged last: a broken file is one line, not one for each look. */
  #complaint = '';

  constructor({ path, log, lockMs = 5_000 }: KeyFileOptions) {
    this.#path = path;
    this.#log = log;
    this.#lockMs = lockMs;
  }

  async list(): Promise<readonly ApiKey[]> {
    try {
      const found = await stat(this.#path, { bigint: true });
      const stamp = stampOf(found);
      if (this.#keys && stamp !== '' && stamp === this.#stamp) return this.#keys;
      this.#stamp = stamp;
      const read = await this.#read();
      this.#complaint = '';
      // A file that was written anew with the same content is no change.
      if (!this.#keys || JSON.stringify(read) !== JSON.stringify(this.#keys)) this.#keys = read;
      return this.#keys;
    } catch (error) {
      if (!this.#keys) throw configurationFault(this.#path, error);
      const complaint = errorText(error);
      if (complaint !== this.#complaint) {
        this.#log.warn(
          { err: error, file: this.#path },
          'the file of API keys cannot be used: earlier keys stay valid',
        );
      }
      this.#complaint = complaint;
      return this.#keys;
    }
  }

  async add(key: ApiKey): Promise<void> {
    await this.#change((keys) => {
      if (keys.some(({ id }) => id === key.id))
        throw new AppError('invalid_request', `There is a key "${key.id}" already`);
      return [...keys, key];
    });
  }

  async revoke(id: string, time: string): Promise<ApiKey | undefined> {
    let revoked: ApiKey | undefined;
    await this.#change((keys) =>
      keys.map((key) => {
        if (key.id !== id) return key;
        revoked = { ...key, revokedAt: key.revokedAt ?? time };
        return revoked;
      }),
    );
    return revoked;
  }

  async #read(): Promise<ApiKey[]> {
    const text = await readFile(this.#path, 'utf8');
    const result = KeyFileContent.safeParse(parsed(text));
    if (result.success) return result.data.keys;
    const [issue] = result.error.issues;
    throw new AppError(
      'ConfigurationException',
      `${issue?.path.join('.') || 'the file'}: ${issue?.message ?? 'is wrong'}`,
    );
  }

  /** Replaces the file in one step, so that a reader sees the old keys or the new ones, and syncs it to the disk. */
  async #change(edit: (keys: readonly ApiKey[]) => readonly ApiKey[]): Promise<void> {
    const path = await realpath(this.#path).catch(() => this.#path); // a link stays a link
    const lock = await lockOn(path, this.#lockMs);
    try {
      const before = await stat(path).catch(ifAbsent);
      const keys = edit(before ? await this.#read() : []);
      const temporary = join(dirname(path), `.${basename(path)}.${process.pid}`);
      try {
        const file = await open(temporary, 'w', 0o600);
        try {
          await file.writeFile(`${JSON.stringify({ keys }, null, 2)}\n`);
          // A command that root runs must not take the file away from the server.
          if (before && process.getuid?.() === 0) await file.chown(before.uid, before.gid);
          await file.sync();
        } finally {
          await file.close();
        }
        await rename(temporary, path);
      } finally {
        await rm(temporary, { force: true });
      }
    } catch (error) {
      throw diskFailure(error) ?? (error instanceof AppError ? configurationFault(path, error) : error);
    } finally {
      await lock.close();
      await rm(lockPath(path), { force: true });
    }
  }
}

const lockPath = (path: string): string => `${path}.lock`;

/** One command changes the file at a time. Throws `unavailable` if another one does so for long, or was killed. */
async function lockOn(path: string, lockMs: number): Promise<FileHandle> {
  const limit = AbortSignal.timeout(lockMs);
  for (;;) {
    try {
      return await open(lockPath(path), 'wx', 0o600);
    } catch (error) {
      if (isCode(error, 'ENOENT')) {
        throw new AppError('ConfigurationException', `The folder of "${path}" does not exist`, { cause: error });
      }
      if (!isCode(error, 'EEXIST')) throw diskFailure(error) ?? error;
    }
    await delay(lockPauseMs, limit).catch(() => {
      const advice = `If there is none, delete "${lockPath(path)}"`;
      throw new AppError('unavailable', `Another command is changing the keys. ${advice}`);
    });
  }
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch (error) {
    throw new AppError('ConfigurationException', errorText(error), { cause: error });
  }
}

const isCode = (error: unknown, code: string): boolean =>
  error instanceof Error && 'code' in error && error.code === code;

function ifAbsent(error: unknown): undefined {
  if (!isCode(error, 'ENOENT')) throw error;
  return undefined;
}

/** Empty for a file that was changed within the last moments: it may change once more and look the same. */
function stampOf({ ino, size, mtimeNs, ctimeNs, ctimeMs }: BigIntStats): string {
  if (BigInt(Date.now()) - ctimeMs < tickMs) return '';
  return `${ino}:${size}:${mtimeNs}:${ctimeNs}`;
}

function configurationFault(path: string, error: unknown): AppError {
  if (error instanceof AppError && error.code === 'invalid_request') return error;
  const reason = isCode(error, 'ENOENT')
    ? 'does not exist: make a key with "agent-server keys create"'
    : errorText(error);
  return new AppError('ConfigurationException', `The file of API keys "${path}" cannot be used: ${reason}`, {
    cause: error,
  });
}
