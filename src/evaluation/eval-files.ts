import { randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, realpath, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { diskRetryAfter } from '../base/disk-failure.ts';
import { AppError } from '../base/errors.ts';
import { isWithin } from '../loaders/agent-folders.ts';

export type FileKind = 'set' | 'result' | 'test';

/** The folder below the app's, and the extension, per kind of file: as in ADK. */
const places = {
  set: { folder: '', ending: '.evalset.json' },
  result: { folder: '.adk/eval_history', ending: '.evalset_result.json' },
  test: { folder: 'tests', ending: '.json' },
} as const;

/** The longest file name in common file systems, in bytes. */
const maxNameBytes = 255;

/** The evaluation files of apps, as texts by id. Ids become file names: an id that is not a plain name has no file. */
export interface EvalFiles {
  /** Ids, sorted. */
  list(appName: string, kind: FileKind): Promise<string[]>;
  read(appName: string, kind: FileKind, id: string): Promise<string | undefined>;
  /** Atomic: readers see the old text or the new one. */
  write(appName: string, kind: FileKind, id: string, text: string): Promise<void>;
  /** Returns false if the file did not exist. */
  remove(appName: string, kind: FileKind, id: string): Promise<boolean>;
}

/**
 * Files in the folders of the apps. `folderOf` returns the real path of an app's folder and throws `app_not_found`; an app
 * made in code has no folder, and its files are kept in memory.
 */
export function evalFiles(folderOf: (appName: string) => Promise<string | undefined>): EvalFiles {
  const memory = new Map<string, EvalFiles>();
  const filesOf = async (appName: string): Promise<EvalFiles> => {
    const folder = await folderOf(appName);
    if (folder !== undefined) return filesIn(folder);
    const known = memory.get(appName) ?? filesInMemory();
    memory.set(appName, known);
    return known;
  };
  return {
    list: async (appName, kind) => (await filesOf(appName)).list(appName, kind),
    read: async (appName, kind, id) => (await filesOf(appName)).read(appName, kind, id),
    write: async (appName, kind, id, text) => (await filesOf(appName)).write(appName, kind, id, text),
    remove: async (appName, kind, id) => (await filesOf(appName)).remove(appName, kind, id),
  };
}

function filesIn(root: string): EvalFiles {
  /** The real folder of a kind; `undefined` if it does not exist. Throws for a link that leads out of the app's folder. */
  const realFolder = async (kind: FileKind): Promise<string | undefined> => {
    const real = await realpath(join(root, places[kind].folder)).catch(ignoringAbsence);
    if (real !== undefined && !isWithin(root, real)) throw leadsOut(places[kind].folder);
    return real;
  };
  const realFile = async (kind: FileKind, id: string): Promise<string | undefined> => {
    const name = fileName(kind, id);
    const folder = await realFolder(kind);
    if (name === undefined || folder === undefined) return undefined;
    const real = await realpath(join(folder, name)).catch(ignoringAbsence);
    if (real !== undefined && !isWithin(root, real)) throw leadsOut(name);
    return real;
  };
  return {
    async list(_appName, kind) {
      const folder = await realFolder(kind);
      if (folder === undefined) return [];
      const { ending } = places[kind];
      const names = (await readdir(folder)).filter((name) => name.endsWith(ending) && !name.startsWith('.'));
      return names.map((name) => name.slice(0, -ending.length)).toSorted();
    },
    async read(_appName, kind, id) {
      const file = await realFile(kind, id);
      return file === undefined ? undefined : await readFile(file, 'utf8').catch(ignoringAbsence);
    },
    async write(_appName, kind, id, text) {
      const name = fileName(kind, id);
      if (name === undefined) throw new AppError('invalid_request', `"${id}" cannot be the name of a file`);
      try {
        await makeFolder(root, places[kind].folder);
        await replaceFile((await realFolder(kind)) ?? root, name, text);
      } catch (error) {
        if (error instanceof AppError) throw error;
        const options = { cause: error, retryAfter: diskRetryAfter };
        throw new AppError('unavailable', `The evaluation file "${name}" cannot be written`, options);
      }
    },
    async remove(_appName, kind, id) {
      const name = fileName(kind, id);
      const folder = await realFolder(kind);
      if (name === undefined || folder === undefined) return false;
      return await rm(join(folder, name)).then(
        () => true,
        (error: unknown) => ignoringAbsence(error) ?? false,
      );
    },
  };
}

async function replaceFile(folder: string, name: string, text: string): Promise<void> {
  const draft = join(folder, `.draft-${randomUUID()}`);
  try {
    await writeFile(draft, text, { flag: 'wx' });
    await rename(draft, join(folder, name)); // replaces a link instead of following it
  } finally {
    await rm(draft, { force: true });
  }
}

function filesInMemory(): EvalFiles {
  const texts = { set: new Map<string, string>(), result: new Map<string, string>(), test: new Map<string, string>() };
  return {
    list: async (_appName, kind) => [...texts[kind].keys()].toSorted(),
    read: async (_appName, kind, id) => texts[kind].get(id),
    write: async (_appName, kind, id, text) => void texts[kind].set(id, text),
    remove: async (_appName, kind, id) => texts[kind].delete(id),
  };
}

function fileName(kind: FileKind, id: string): string | undefined {
  const name = id + places[kind].ending;
  // oxlint-disable-next-line no-control-regex
  const isPlain = id !== '' && !/^\.|[/\\\u0000-\u001f]/.test(id) && Buffer.byteLength(name) <= maxNameBytes;
  return isPlain ? name : undefined;
}

/** Creates a folder below the root. Throws if a link on the path leads out. */
async function makeFolder(root: string, folder: string): Promise<void> {
  if (folder === '') return;
  await makeFolder(root, dirname(folder) === '.' ? '' : dirname(folder));
  const path = join(root, folder);
  const real = await realpath(path).catch(ignoringAbsence);
  if (real === undefined) await mkdir(path, { recursive: true });
  else if (!isWithin(root, real)) throw leadsOut(folder);
}

function ignoringAbsence(error: unknown): undefined {
  if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
  throw error;
}

const leadsOut = (name: string): AppError =>
  new AppError('invalid_request', `"${name}" is a link that leads out of the folder of the app`);
