import { deepFreeze, type JsonObject } from '../../base/json.ts';
import type { CollectOptions, VersionLimits } from '../../core/services.ts';
import type { Part } from '../../schemas/content.ts';
import type { ContainedFolder } from './contained-folder.ts';
import { hasLimits, numberTakenMs, oldVersions } from './old-versions.ts';

/** The file beside the bytes of a version. It does not know its number: that is its folder's name. */
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

/** A version that is there. */
export interface FoundVersion extends Facts {
  readonly folder: string;
  readonly version: number;
}

export const contentFile = 'content';
export const factsFile = 'about.json';
/** What the facts are called once a version is gone: nobody is shown it, but its folder is not free. */
const goneFile = 'gone.json';

/** Ascending; those of versions that are gone may be among them, but are never the newest. */
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

/** Deletes old versions and gives their number. */
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
      else if (!isTrial) await bury(folder, place, number);
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
      for (const shelf of [[], ...sessions.map((session) => ['sessions', session])]) {
        const names = await folder.list([...owner, ...shelf, 'artifacts']);
        for (const name of names) yield [...owner, ...shelf, 'artifacts', name];
      }
    }
  }
}

/** False when it is gone already, or another has its place: the artifact was deleted and saved again. */
async function remove(folder: ContainedFolder, place: readonly string[], old: FoundVersion): Promise<boolean> {
  if (!(await folder.rename(old.folder, factsFile, goneFile))) return false;
  const gone = await findVersion(folder, place, old.version, goneFile);
  if (gone?.createTime !== old.createTime) {
    await folder.rename(old.folder, goneFile, factsFile);
    return false;
  }
  await bury(folder, place, old.version);
  return true;
}

/** Frees the disk of a version that is gone, and its number once nobody can be about to take that. */
async function bury(folder: ContainedFolder, place: readonly string[], version: number): Promise<void> {
  const gone = await findVersion(folder, place, version, goneFile);
  if (!gone) return;
  await folder.delete(gone.folder, contentFile);
  if (gone.createTime * 1000 < Date.now() - numberTakenMs) await folder.remove([...place, String(version)]);
}
