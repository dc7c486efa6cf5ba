import type { CollectOptions, VersionLimits } from '../../../core/services.ts';
import { hasLimits, numberTakenMs, oldVersions } from '../old-versions.ts';
import { versionIn } from './bucket-names.ts';
import { type Bucket, each, type ListedObject } from './bucket.ts';
import { idOf, isPlaceholder, placeholder } from './object-facts.ts';

interface ListedVersion extends ListedObject {
  readonly version: number;
}

/**
 * Deletes old versions. Returns their number. Deletes only objects with our metadata, none of other programs. A
 * placeholder keeps the newest number reserved for a while, in case a save is about to use it.
 */
export async function collectObjects(
  { bucket, prefix }: { bucket: Bucket; prefix: string },
  limits: VersionLimits,
  { signal, isTrial }: CollectOptions,
): Promise<number> {
  let count = 0;
  if (!hasLimits(limits)) return count;
  for await (const listed of folders(bucket.list(prefix, 'all'))) {
    signal.throwIfAborted();
    if (listed.length < 2) continue;
    const isVersion = await each(listed, async (object) => object.size > 0 || !(await isHeld(bucket, object, isTrial)));
    const versions = listed.filter((_, place) => isVersion[place]);
    const gone = await each(oldVersions(versions[0]?.name ?? '', versions, limits), (object) =>
      remove(bucket, object, isTrial),
    );
    count += gone.filter(Boolean).length;
  }
  return count;
}

/** The versions of each folder, ascending. Names are sorted, so a folder ends where a name of another one follows. */
async function* folders(objects: AsyncIterable<ListedObject>): AsyncGenerator<ListedVersion[], void, void> {
  const open = new Map<string, ListedVersion[]>();
  const close = (name: string): ListedVersion[] => {
    const versions = open.get(name) ?? [];
    open.delete(name);
    return versions.toSorted((a, b) => a.version - b.version);
  };
  for await (const object of objects) {
    for (const name of open.keys()) if (!object.name.startsWith(name)) yield close(name);
    const end = object.name.lastIndexOf('/') + 1;
    const version = versionIn(object.name.slice(end));
    if (version === undefined) continue;
    const folder = object.name.slice(0, end);
    const versions = open.get(folder);
    if (versions) versions.push({ ...object, version });
    else open.set(folder, [{ ...object, version }]);
  }
  for (const name of open.keys()) yield close(name);
}

/** Whether an empty object is a placeholder. Deletes placeholders that are not needed any more. */
async function isHeld(bucket: Bucket, { name }: ListedObject, isTrial: boolean): Promise<boolean> {
  const found = await bucket.find(name);
  if (!found) return true;
  if (!isPlaceholder(found)) return false;
  if (!isTrial && isLongAgo(found.createTime)) await bucket.delete(name);
  return true;
}

/** Returns false for an object of another program, and for one that replaced the listed object. */
async function remove(bucket: Bucket, { name, createTime }: ListedObject, isTrial: boolean): Promise<boolean> {
  const found = await bucket.find(name);
  if (!found || idOf(found) === undefined || Math.floor(found.createTime) !== Math.floor(createTime)) return false;
  if (isTrial) return true;
  if (isLongAgo(createTime)) await bucket.delete(name);
  else await bucket.replace(name, placeholder, nothing());
  return true;
}

const isLongAgo = (createTime: number): boolean => createTime * 1000 < Date.now() - numberTakenMs;

async function* nothing(): AsyncGenerator<Uint8Array, void, void> {}
