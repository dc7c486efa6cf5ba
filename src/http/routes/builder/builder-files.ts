import { randomUUID } from 'node:crypto';
import { lstat, mkdir, readdir, readFile, realpath, rename, rm, rmdir, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { AppError } from '../../../base/errors.ts';
import { codeEntries, isAppName, isWithin, yamlEntries } from '../../../loaders/agent-folders.ts';
import { checkApp } from '../../../loaders/yaml/check-app.ts';
import { checkAgentYaml } from '../../../loaders/yaml/check-file.ts';
import { nameFault } from '../../../schemas/names.ts';
import type { AccessLimits } from '../../../tools/access-limits.ts';

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
  readonly #limits: AccessLimits;

  /**
   * `root` is the folder of the apps: nothing outside it is read or written, and nothing but `only` where it is given.
   * `limits`: the access of agents in YAML files.
   */
  constructor(
    root: string,
    { only, limits = {} }: { readonly only?: string | undefined; readonly limits?: AccessLimits | undefined } = {},
  ) {
    this.#root = root;
    this.#only = only;
    this.#limits = limits;
  }

  /**
   * Writes files, as a draft or for good. Throws `invalid_request` for what is no agent file, and for good for what would
   * not load; `app_exists` where an app made of code would give way to YAML. Then nothing is written.
   */
  async save(appName: string, files: readonly UploadedFile[], isDraft: boolean): Promise<void> {
    const folder = await this.#folderOf(appName);
    for (const { path, text } of files) {
      try {
        checkAgentYaml(text, path, this.#limits);
      } catch (error) {
        throw error instanceof AppError ? new AppError('invalid_request', error.message, { cause: error }) : error;
      }
    }
    const draft = join(folder, 'tmp', appName);
    const targets = files.map(({ path, text }) => ({ text, file: join(isDraft ? draft : folder, path) }));
    for (const { file } of targets) await checkContained(folder, file);
    await checkContained(folder, draft);
    const texts = new Map([
      ...(isDraft ? [] : await yamlTextsIn(draft)),
      ...files.map(({ path, text }) => [path, text] as const),
    ]);
    await checkNotCode(appName, folder, texts);
    if (!isDraft) {
      await this.#checkLoads(folder, texts);
      await copyYaml(draft, folder);
    }
    for (const { file, text } of targets) await replaceFile(folder, file, text);
    if (!isDraft) await this.cancel(appName);
  }

  /** Throws `invalid_request` when the app, with these texts in it, would not load. Without a root agent it is none yet. */
  async #checkLoads(folder: string, texts: ReadonlyMap<string, string>): Promise<void> {
    const onDisk = (await exists(folder)) ? await readdir(folder) : [];
    const entry = yamlEntries.find((name) => texts.has(name) || onDisk.includes(name));
    if (entry === undefined) return;
    const isNew = (await mkdir(folder, { recursive: true })) !== undefined;
    try {
      await checkApp({ folder, entry, texts, limits: this.#limits });
    } catch (error) {
      if (isNew) await rmdir(folder);
      throw error;
    }
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

  /** The text of a file, of the draft where it has one. Throws when there is no such file. */
  async read(appName: string, path: string, isDraft: boolean): Promise<string> {
    const folder = await this.#folderOf(appName);
    const place = uploadPath(path, appName);
    const drafted = join(folder, 'tmp', appName, place);
    const file = isDraft && (await exists(drafted)) ? drafted : join(folder, place);
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

/** Throws `app_exists` when a root agent in YAML would take over an app that is made of code. */
async function checkNotCode(appName: string, folder: string, texts: ReadonlyMap<string, string>): Promise<void> {
  if (!yamlEntries.some((name) => texts.has(name)) || !(await exists(folder))) return;
  const present = await readdir(folder);
  const code = codeEntries.find((name) => present.includes(name));
  if (code === undefined || yamlEntries.some((name) => present.includes(name))) return;
  throw new AppError('app_exists', `App "${appName}" is made by ${code}: a root agent in YAML would take its place`);
}

/** The YAML files of a folder and its folders, by path; none where there is no such folder. */
async function yamlTextsIn(folder: string): Promise<(readonly [string, string])[]> {
  if (!(await exists(folder))) return [];
  const paths = await yamlFilesIn(folder);
  return await Promise.all(paths.map(async (path) => [path, await readFile(join(folder, path), 'utf8')] as const));
}

/** Copies the YAML files of a folder and its folders; links and all other files stay behind. */
async function copyYaml(from: string, to: string): Promise<void> {
  for (const [path, text] of await yamlTextsIn(from)) {
    const target = join(to, path);
    await checkContained(to, target);
    await replaceFile(to, target, text);
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
