import { randomUUID } from 'node:crypto';
import { lstat, mkdir, readdir, readFile, realpath, rename, rm, rmdir, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { AppError } from '../../base/errors.ts';
import { isAppName, isWithin } from '../../loaders/agent-folders.ts';
import { checkAgentYaml } from '../../loaders/yaml/check-file.ts';
import { nameFault } from '../../schemas/names.ts';
import type { Reach } from '../../tools/reach.ts';

/** A file to be written: its path within the app, and its text. */
export interface UploadedFile {
  readonly path: string;
  readonly text: string;
}

const maxSegments = 5;

/** The path within the app a file name stands for: `app/x.yaml` and `x.yaml` are the same. Throws `invalid_request`. */
export function uploadPath(fileName: string, appName: string): string {
  const refuse = (why: string): AppError => new AppError('invalid_request', `File name "${fileName}" ${why}`);
  if (fileName.startsWith('/') || /^[a-z]:/i.test(fileName)) throw refuse('is an absolute path');
  const fault = nameFault(fileName, true);
  if (fault !== undefined) throw refuse(fault);
  const segments = fileName.split('/');
  if (segments.length > 1 && segments[0] === appName) segments.shift();
  if (segments.length > maxSegments) throw refuse(`has more than ${maxSegments} parts`);
  if (segments.some((segment) => segment.startsWith('.'))) throw refuse('names a hidden file');
  if (segments[0] === 'tmp' || segments.includes('node_modules')) throw refuse('is in a folder that is not for agents');
  if (!/\.ya?ml$/.test(fileName)) throw refuse('is not a YAML file');
  return segments.join('/');
}

/** The YAML files of apps as the visual builder edits them: a draft below `tmp`, until it is saved or cancelled. */
export class BuilderFiles {
  readonly #root: string;
  readonly #only: string | undefined;
  readonly #reach: Reach;

  /**
   * `root` is the folder of the apps: nothing outside it is read or written, and nothing but `only` where it is given.
   * `reach` is how far agents of YAML files get.
   */
  constructor(
    root: string,
    { only, reach = {} }: { readonly only?: string | undefined; readonly reach?: Reach | undefined } = {},
  ) {
    this.#root = root;
    this.#only = only;
    this.#reach = reach;
  }

  /** Throws `invalid_request` for what is no agent file; then nothing is written. */
  async save(appName: string, files: readonly UploadedFile[], isDraft: boolean): Promise<void> {
    const folder = await this.#folderOf(appName);
    for (const { path, text } of files) {
      try {
        checkAgentYaml(text, path, this.#reach);
      } catch (error) {
        throw error instanceof AppError ? new AppError('invalid_request', error.message, { cause: error }) : error;
      }
    }
    const draft = join(folder, 'tmp', appName);
    const targets = files.map(({ path, text }) => ({ text, file: join(isDraft ? draft : folder, path) }));
    for (const { file } of targets) await checkContained(folder, file);
    await checkContained(folder, draft);
    if (!isDraft) await copyYaml(draft, folder);
    for (const { file, text } of targets) await replaceFile(folder, file, text);
    if (!isDraft) await this.cancel(appName);
  }

  /** Drops the draft; false when there was none. */
  async cancel(appName: string): Promise<boolean> {
    const folder = await this.#folderOf(appName);
    const draft = join(folder, 'tmp', appName);
    await checkContained(folder, draft);
    if (!(await exists(draft))) return false;
    await rm(draft, { recursive: true, force: true });
    // The folder around it goes when nothing else is in it.
    await rmdir(dirname(draft)).catch(() => {});
    return true;
  }

  /** The text of a file; reading a draft makes it when there is none. Throws when there is no such file. */
  async read(appName: string, path: string, isDraft: boolean): Promise<string> {
    const folder = await this.#folderOf(appName);
    const draft = join(folder, 'tmp', appName);
    const file = join(isDraft ? draft : folder, uploadPath(path, appName));
    await checkContained(folder, file);
    if (isDraft && (await exists(folder)) && !(await exists(draft))) await copyYaml(folder, draft);
    await checkContained(folder, file);
    return await readFile(file, 'utf8');
  }

  async #folderOf(appName: string): Promise<string> {
    const root = await realpath(this.#root);
    const folder = join(root, appName);
    const isOther = this.#only !== undefined && appName !== this.#only;
    if (!isAppName(appName) || appName === 'tmp' || isOther) {
      throw new AppError('invalid_request', `"${appName}" is not the name of an app`);
    }
    await checkContained(root, folder);
    return (await exists(folder)) ? await realpath(folder) : folder;
  }
}

/** Throws `invalid_request` when a link on the way to the path, or the path itself, leads out of the folder. */
async function checkContained(folder: string, path: string): Promise<void> {
  const refused = new AppError('invalid_request', `"${basename(path)}" leads out of the folder of the app`);
  if (!isWithin(folder, path)) throw refused;
  for (let there = path; isWithin(folder, there) && there !== folder; there = dirname(there)) {
    if (!(await exists(there))) continue;
    const real = await realpath(there).catch(() => undefined);
    if (real === undefined || !isWithin(folder, real)) throw refused;
    return;
  }
}

/** Readers see the old file or the new one, never half of it; a link is replaced and not followed. */
async function replaceFile(folder: string, file: string, text: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  await checkContained(folder, dirname(file));
  const fresh = `${file}.${randomUUID()}`;
  try {
    await writeFile(fresh, text, { flag: 'wx' });
    await rename(fresh, file);
  } finally {
    await rm(fresh, { force: true });
  }
}

/** Copies the YAML files of a folder and its folders; links and all other files stay behind. */
async function copyYaml(from: string, to: string): Promise<void> {
  if (!(await exists(from))) return;
  for (const path of await yamlFilesIn(from)) {
    const target = join(to, path);
    await checkContained(to, target);
    await replaceFile(to, target, await readFile(join(from, path), 'utf8'));
  }
}

async function yamlFilesIn(folder: string, depth = 0): Promise<string[]> {
  const found: string[] = [];
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const isLeftOut = entry.name.startsWith('.') || ['tmp', 'node_modules'].includes(entry.name);
    if (entry.isFile() && /\.ya?ml$/.test(entry.name)) found.push(entry.name);
    if (!entry.isDirectory() || isLeftOut || depth + 1 >= maxSegments) continue;
    const inner = await yamlFilesIn(join(folder, entry.name), depth + 1);
    found.push(...inner.map((path) => `${entry.name}/${path}`));
  }
  return found;
}

const exists = async (path: string): Promise<boolean> =>
  await lstat(path).then(
    () => true,
    () => false,
  );
