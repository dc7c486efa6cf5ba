import { hash } from 'node:crypto';
import { type BigIntStats, readFileSync, statSync } from 'node:fs';

/**
 * Clocks of file systems tick every few milliseconds: two writes in one tick look like one. So what was written just
 * now is told apart by its content.
 */
const tickMs = 50n;

interface FileVersion {
  readonly stamp: string;
  readonly content: string | undefined;
}

/** Files whose change makes an app stale. Absent files count as well: they may come. */
export class FileVersions {
  readonly #versions = new Map<string, FileVersion>();

  /** Remembers the state of a file. Call it before reading the file, so that no change slips in between. */
  record(file: string): void {
    const found = stat(file);
    this.#versions.set(file, { stamp: stampOf(found), content: isFresh(found) ? contentOf(file) : undefined });
  }

  /** The files that are not as they were noted, which are noted anew. Synchronous: some microseconds for each file. */
  takeChanged(): string[] {
    const changed: string[] = [];
    for (const [file, version] of this.#versions) {
      if (
        version.stamp === stampOf(stat(file)) &&
        (version.content === undefined || version.content === contentOf(file))
      ) {
        continue;
      }
      this.record(file);
      changed.push(file);
    }
    return changed;
  }
}

/** Tells one state of a folder's listing from another; `undefined` while it is too young to tell. */
export function folderVersion(folder: string): string | undefined {
  const found = stat(folder);
  return isFresh(found) ? undefined : stampOf(found);
}

const stat = (file: string): BigIntStats | undefined => statSync(file, { bigint: true, throwIfNoEntry: false });

function stampOf(found: BigIntStats | undefined): string {
  return found ? `${found.ino}:${found.size}:${found.mtimeNs}:${found.ctimeNs}` : '';
}

function isFresh(found: BigIntStats | undefined): boolean {
  return found !== undefined && BigInt(Date.now()) - found.ctimeMs < tickMs;
}

function contentOf(file: string): string | undefined {
  try {
    return hash('sha1', readFileSync(file));
  } catch {
    return ''; // gone between two looks, or not readable: the stamp will tell
  }
}
