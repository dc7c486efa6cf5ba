import { hash } from 'node:crypto';
import { type BigIntStats, readFileSync, statSync } from 'node:fs';

/**
 * The clock of a file system ticks every few milliseconds, and two writes in one tick look like one. So files written
 * within the last tick are compared by content.
 */
const tickMs = 50n;

interface FileVersion {
  readonly stamp: string;
  readonly content: string | undefined;
}

/** Files whose change makes an app stale. Absent files count, too: they may be created later. */
export class FileVersions {
  readonly #versions = new Map<string, FileVersion>();

  /** Remembers the state of a file. Call it before reading the file, so that no change slips in between. */
  record(file: string): void {
    const found = stat(file);
    this.#versions.set(file, { stamp: stampOf(found), content: isFresh(found) ? contentOf(file) : undefined });
  }

  /** Returns the files that changed since they were recorded, and records them again. Synchronous: some microseconds per file. */
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

/** Changes with the folder's list of files. `undefined` right after a change, when a second one could not be seen. */
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
    return ''; // deleted meanwhile, or not readable: the stamp shows the change
  }
}
