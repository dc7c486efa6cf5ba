import { type Dirent, readdirSync, realpathSync, statSync } from 'node:fs';
import { basename, extname, join, relative, resolve, sep } from 'node:path';
import { nameFault } from '../schemas/names.ts';
import type { AppFinder, AppSource } from './app-source.ts';
import { folderVersion } from './file-versions.ts';

/** Entry files that make a folder an app, in order of preference. Beside a YAML file, `agent.ts` is its registry, so YAML comes first. */
export const yamlEntries = ['root_agent.yaml', 'root_agent.yml'];
export const codeEntries = ['agent.ts', 'agent.mts', 'agent.js', 'agent.mjs'];

interface InspectedFolder {
  readonly version: string | undefined;
  readonly source: AppSource | undefined;
  readonly hint: string | undefined;
}

/**
 * One app per folder with an `agent.ts`, `agent.js` or `root_agent.yaml`; the folder's name is the app's. When
 * `agentsDir` is itself an app, it is the only one. Links that lead out of it are not followed.
 */
export function agentFolders(agentsDir: string): AppFinder {
  const place = resolve(agentsDir);
  let root = place;
  const seen = new Map<string, InspectedFolder>();

  const inspectCached = (folder: string, name: string): InspectedFolder => {
    const version = folderVersion(folder);
    const known = seen.get(folder);
    if (known && version !== undefined && known.version === version) return known;
    const found = { version, ...inspectFolder(folder, name, root) };
    seen.set(folder, found);
    return found;
  };
  const single = (): AppSource | undefined => {
    const real = realFolder(place);
    if (real === undefined) return undefined;
    root = real;
    return inspectCached(real, basename(real)).source;
  };
  const folders = (): InspectedFolder[] => {
    const names = isFolder(root) ? readdirSync(root, { withFileTypes: true }) : [];
    const apps = names.filter((entry) => isAppFolder(entry)).map((entry) => entry.name);
    const present = new Set(apps.map((name) => join(root, name)));
    for (const folder of seen.keys()) if (!present.has(folder) && folder !== root) seen.delete(folder);
    return apps.toSorted().map((name) => inspectCached(join(root, name), name));
  };

  return {
    place: agentsDir,
    get base() {
      return single() ? join(root, '..') : root;
    },
    list() {
      const only = single();
      if (only) return [only];
      return folders().flatMap(({ source }) => (source ? [source] : []));
    },
    find(name) {
      const only = single();
      if (only) return only.name === name ? only : undefined;
      if (!isAppName(name) || !isFolder(join(root, name))) return undefined;
      return inspectCached(join(root, name), name).source;
    },
    hints() {
      if (single()) return [];
      return folders().flatMap(({ hint }) => (hint === undefined ? [] : [hint]));
    },
  };
}

/** The app in a folder, or why a folder that looks like an app is none. */
export function inspectFolder(
  folder: string,
  name: string,
  root: string,
): { source: AppSource | undefined; hint: string | undefined } {
  const none = (hint?: string): { source: undefined; hint: string | undefined } => ({
    source: undefined,
    hint: hint === undefined ? undefined : `${name}: ${hint}`,
  });
  const real = realFolder(folder);
  if (real === undefined) return none();
  if (!isWithin(root, real)) return none('the link leads out of the agents folder');
  const files = readdirSync(real);
  const entry = [...yamlEntries, ...codeEntries].find((file) => files.includes(file));
  if (entry === undefined) return none(files.includes('agent.py') ? 'Python agents cannot be run here' : undefined);
  const file = realFile(join(real, entry));
  if (file === undefined) return none(`${entry} is not a file`);
  if (!isWithin(real, file)) return none(`${entry} is a link that leads out of the folder`);
  return { source: { name, folder: real, entry: file, language: languageOf(file) }, hint: undefined };
}

/** Whether the path is the folder or inside it. Both must be real paths. */
export function isWithin(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way === '' || (way !== '..' && !way.startsWith(`..${sep}`) && resolve(folder, way) === path);
}

export function languageOf(file: string): AppSource['language'] {
  if (/\.ya?ml$/.test(file)) return 'yaml';
  return extname(file).endsWith('ts') ? 'typescript' : 'javascript';
}

/** The apps of several folders as one list. Of two apps with the same name, the one in the earlier folder is used. */
export function manyFolders(finders: readonly AppFinder[]): AppFinder {
  const [only] = finders;
  if (only && finders.length === 1) return only;
  return {
    place: finders.map(({ place }) => place).join(', '),
    get base() {
      return only?.base ?? '';
    },
    list() {
      const names = new Set(finders.flatMap((finder) => finder.list().map(({ name }) => name)));
      return [...names].toSorted().flatMap((name) => this.find(name) ?? []);
    },
    find(name) {
      for (const finder of finders) {
        const source = finder.find(name);
        if (source) return source;
      }
      return undefined;
    },
    hints: () => finders.flatMap((finder) => finder.hints()),
  };
}

export function isAppName(name: string): boolean {
  return nameFault(name) === undefined && !/^(\.|__)/.test(name) && name !== 'node_modules';
}

const isAppFolder = (entry: Dirent): boolean =>
  (entry.isDirectory() || entry.isSymbolicLink()) && isAppName(entry.name);

export function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

/** The real path of a regular file; `undefined` when there is none (broken link, pipe, device). */
export function realFile(path: string): string | undefined {
  return statSync(path, { throwIfNoEntry: false })?.isFile() ? realpathSync.native(path) : undefined;
}

function realFolder(path: string): string | undefined {
  return isFolder(path) ? realpathSync.native(path) : undefined;
}
