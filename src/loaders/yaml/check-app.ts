import { statSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { AppError, errorText } from '../../base/errors.ts';
import type { AccessLimits } from '../../tools/access-limits.ts';
import { yamlApp } from './yaml-app.ts';

/** An app that is not saved yet. */
export interface PlannedApp {
  /** A real path. */
  readonly folder: string;
  /** The file of its root agent, within the folder. */
  readonly entry: string;
  /** Texts that replace the files on disk, by path within the folder. */
  readonly texts: ReadonlyMap<string, string>;
  readonly limits: AccessLimits;
}

/** Loads an app that is not saved yet, as a check, and closes it. Throws `invalid_request` with the fault. */
export async function checkApp({ folder, entry, texts, limits }: PlannedApp): Promise<void> {
  const overlay = new Map([...texts].map(([path, text]) => [join(folder, path), text]));
  const source = { name: 'app', folder, entry: join(folder, entry), language: 'yaml' } as const;
  try {
    await yamlApp(source, {
      base: folder,
      strict: false,
      allowStdioMcp: false,
      limits,
      warn: () => {},
      note: () => {},
      importModule,
      overlay,
    });
  } catch (error) {
    const why = error instanceof AppError ? error.message : `The app cannot be loaded: ${errorText(error)}`;
    throw new AppError('invalid_request', why, { cause: error });
  }
}

/** Imports the current code, not a version that was imported before. */
async function importModule(file: string): Promise<Record<string, unknown>> {
  const url = pathToFileURL(file);
  url.searchParams.set('written', String(statSync(file).mtimeMs));
  return (await import(url.href)) as Record<string, unknown>;
}
