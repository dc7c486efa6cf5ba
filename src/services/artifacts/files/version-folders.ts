import { deepFreeze, type JsonObject } from '../../../base/json.ts';
import type { CollectOptions, VersionLimits } from '../../../core/services.ts';
import type { Part } from '../../../schemas/content.ts';
import { hasLimits, numberTakenMs, oldVersions } from '../old-versions.ts';
import type { ContainedFolder } from './contained-folder.ts';

/** The metadata file beside the bytes of a version. It has no version number, which is the folder's name. */
export interface Facts {
  readonly name: string;
  /** The part without the bytes. */
  readonly rest: Part;
  readonly hasBytes: boolean;
  readonly size?: number | undefined;
  readonly metadata: JsonObject;
  /** Seconds since the epoch. */
  readonly createTime: number;
}

/** An existing version. */
export interface FoundVersion extends Facts {
  readonly folder: string;
  readonly version: number;
}

export const contentFile = 'content';
export const factsFile = 'about.json';
/** The metadata file of a deleted version. The version is hidden, but its number stays taken. */
const deletedFile = 'gone.json';

/** Ascending. May include deleted versions, but never as the newest. */
export async function versionNumbers(folder: ContainedFolder, place: readonly string[]): Promise<number[]> {
  const names = await folder.list(place);
  return names
    .filter((name) => /^(?:0|[1-9]\d*)$/.test(name))
    .map(Number)
    .toSorted((a, b) => a - b);
}

export async function findVersion(
  folder: ContainedFolder,
  place: readonly string[],
  version: number,
  facts = factsFile,
): Promise<FoundVersion | undefined> {
  const path = await folder.find([...place, String(version)]);
  const file = path === undefined ? undefined : await folder.open(path, facts);
  if (path === undefined || !file) return undefined;
  try {
    return { ...deepFreeze(JSON.parse(await file.readFile('utf8')) as Facts), folder: path, version };
  } finally {
    await file.close();
  }
}

/** Deletes old versions. Returns their number. */
export async function collectVersions(
  folder: ContainedFolder,
  limits: VersionLimits,
  { signal, isTrial }: CollectOptions,
): Promise<number> {
  let count = 0;
  if (!hasLimits(limits)) return count;
  for await (const place of artifactsIn(folder)) {
    signal.throwIfAborted();
    const numbers = await versionNumbers(folder, place);
    if (numbers.length < 2) continue;
    const versions: FoundVersion[] = [];
    for (const number of numbers) {
      const found = await findVersion(folder, place, number);
      if (found) versions.push(found);
      else if (!isTrial) await freeDeleted(folder, place, number);
    }
    for (const old of oldVersions(versions[0]?.name ?? '', versions, limits)) {
      if (isTrial || (await remove(folder, place, old))) count += 1;
    }
  }
  return count;
}

/** The folder of each artifact. */
async function* artifactsIn(folder: ContainedFolder): AsyncGenerator<string[], void, void> {
  for (const app of await folder.list(['apps'])) {
    for (const user of await folder.list(['apps', app, 'users'])) {
      const owner = ['apps', app, 'users', user];
      const sessions = await folder.list([...owner, 'sessions']);
      for (const scope of [[], ...sessions.map((session) => ['sessions', session])]) {
        const names = await folder.list([...owner, ...scope, 'artifacts']);
        for (const name of names) yield [...owner, ...scope, 'artifacts', name];
      }
    }
  }
}

/** Returns false if the version does not exist any more, or was replaced: the artifact was deleted and saved again. */
async function remove(folder: ContainedFolder, place: readonly string[], old: FoundVersion): Promise<boolean> {
  if (!(await folder.rename(old.folder, factsFile, deletedFile))) return false;
  const gone = await findVersion(folder, place, old.version, deletedFile);
  if (gone?.createTime !== old.createTime) {
    await folder.rename(old.folder, deletedFile, factsFile);
    return false;
  }
  await freeDeleted(folder, place, old.version);
  return true;
}

/** Deletes the files of a deleted version, and frees its number when no save can be about to use it. */
async function freeDeleted(folder: ContainedFolder, place: readonly string[], version: number): Promise<void> {
  const gone = await findVersion(folder, place, version, deletedFile);
  if (!gone) return;
  await folder.delete(gone.folder, contentFile);
  if (gone.createTime * 1000 < Date.now() - numberTakenMs) await folder.remove([...place, String(version)]);
}
