import type { VersionLimits } from '../../core/services.ts';
import { requirePlausible } from '../plausible-time.ts';

/**
 * The old versions of an artifact; `versions` ascend. Throws `ConfigurationException` if a time decides and one of them
 * is implausible.
 */
export function oldVersions<Version extends { readonly createTime: number }>(
  name: string,
  versions: readonly Version[],
  { keep = Infinity, savedBefore = -Infinity }: VersionLimits,
): Version[] {
  if (savedBefore > -Infinity) {
    for (const { createTime } of versions) requirePlausible(createTime * 1000, `Artifact "${name}"`, 'createTime');
  }
  return versions
    .slice(0, -1)
    .filter(({ createTime }, place) => place < versions.length - keep || createTime < savedBefore);
}

/** Whether any version can be old. */
export const hasLimits = ({ keep, savedBefore }: VersionLimits): boolean =>
  keep !== undefined || savedBefore !== undefined;

/**
 * How long the number of a deleted version stays taken, in milliseconds. A save may pause between finding the next number
 * and using it; if the number were free again by then, an old version would come back with new content.
 */
export const numberTakenMs = 86_400_000;
