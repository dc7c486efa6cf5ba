import { readdirSync, realpathSync } from 'node:fs';
import { basename, isAbsolute, join } from 'node:path';
import { agentFolders, inspectFolder, isAppName, isFolder } from './agent-folders.ts';
import type { AppFinder, AppSource } from './app-source.ts';

/** Usual output folders of TypeScript builds. */
export const defaultBuildOutput: readonly string[] = ['dist', 'build', 'out', 'lib'];

export interface CompiledFoldersOptions {
  /** The folder of the sources, one folder per app. */
  readonly sourceDir: string;
  /**
   * Folders of build output, in order of preference. An absolute one has one folder per app, like the source folder; a
   * relative one may also be inside the folder of each app.
   */
  readonly buildOutputDirs?: readonly string[];
}

/**
 * Apps that are built from sources: each is loaded from the first build output that has it, else from its source.
 */
export function compiledFolders({
  sourceDir,
  buildOutputDirs = defaultBuildOutput,
}: CompiledFoldersOptions): AppFinder {
  const sources = agentFolders(sourceDir);
  const roots = (): string[] =>
    buildOutputDirs
      .map((dir) => (isAbsolute(dir) ? dir : join(sourceDir, dir)))
      .filter(isFolder)
      .map((dir) => realpathSync.native(dir));

  const builtOf = (name: string): AppSource | undefined => {
    for (const root of roots()) {
      const folder = join(root, name);
      const found = isFolder(folder) ? inspectFolder(folder, name, root).source : undefined;
      if (found) return found;
    }
    const own = isFolder(sourceDir) ? realpathSync.native(sourceDir) : undefined;
    for (const dir of own === undefined ? [] : buildOutputDirs) {
      if (isAbsolute(dir)) continue;
      const folder = join(sourceDir, name, dir);
      const found = isFolder(folder) && own !== undefined ? inspectFolder(folder, name, own).source : undefined;
      if (found) return found;
    }
    return undefined;
  };
  const isBuildOutput = (name: string): boolean => buildOutputDirs.some((dir) => basename(dir) === name);
  const candidates = (): string[] => {
    const places = [...(isFolder(sourceDir) ? [sourceDir] : []), ...roots()];
    const names = places
      .flatMap((place) => readdirSync(place))
      .filter((name) => isAppName(name) && !isBuildOutput(name));
    return [...new Set(names)].toSorted();
  };
  const find = (name: string): AppSource | undefined => {
    if (!isAppName(name) || isBuildOutput(name)) return undefined;
    return builtOf(name) ?? sources.find(name);
  };

  return {
    place: sourceDir,
    get base() {
      return sources.base;
    },
    list: () => candidates().flatMap((name) => find(name) ?? []),
    find,
    hints: () => sources.hints().filter((hint) => find(hint.slice(0, hint.indexOf(':'))) === undefined),
  };
}
