import type { VersionLimits } from '../../core/services.ts';
import { requireCredible } from '../credible-time.ts';

/**
 * The old ones of an artifact's versions, which ascend. Throws `ConfigurationException` where a time is to decide and one
 * was misread.
 */
export function oldVersions<Version extends { readonly createTime: number }>(
  name: string,
  versions: readonly Version[],
  { keep = Infinity, savedBefore = -Infinity }: VersionLimits,
): Version[] {
  if (savedBefore > -Infinity) {
    for (const { createTime } of versions) requireCredible(createTime * 1000, `Artifact "${name}"`, 'createTime');
  }
  return versions
    .slice(0, -1)
    .filter(({ createTime }, place) => place < versions.length - keep || createTime < savedBefore);
}

/** Whether any version can be old. */
export const hasLimits = ({ keep, savedBefore }: VersionLimits): boolean =>
  keep !== undefined || savedBefore !== undefined;

/**
 * How long the number of a version that is gone stays taken, in milliseconds. A save that has looked for the next number may
 * stand still before it takes it; were the number free again by then, an old version would come back with new content.
 */
export const numberTakenMs = 86_400_000;
