import type { CollectOptions, VersionLimits } from '../../core/services.ts';
import { versionIn } from './bucket-names.ts';
import { type Bucket, each, type ListedObject } from './bucket.ts';
import { idOf, isPlaceholder, placeholder } from './object-facts.ts';
import { hasLimits, numberTakenMs, oldVersions } from './old-versions.ts';

interface ListedVersion extends ListedObject {
  readonly version: number;
}

/**
 * Deletes old versions and gives their number. What others have put into the bucket is left alone: only what carries our
 * account goes. A number that somebody could be about to take is held by a placeholder for a while.
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

/** The versions in each folder, ascending. Names come sorted: a folder is done when one comes that is not within it. */
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

/** Whether an empty object only holds a number. One that nobody needs any more is deleted. */
async function isHeld(bucket: Bucket, { name }: ListedObject, isTrial: boolean): Promise<boolean> {
  const found = await bucket.find(name);
  if (!found) return true;
  if (!isPlaceholder(found)) return false;
  if (!isTrial && isLongAgo(found.createTime)) await bucket.delete(name);
  return true;
}

/** False for what is not ours, and for what has come into its place meanwhile. */
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
