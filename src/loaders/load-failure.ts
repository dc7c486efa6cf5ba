import { execFile } from 'node:child_process';
import { basename, isAbsolute, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { AppError } from '../base/errors.ts';
import { isWithin } from './agent-folders.ts';
import type { AppSource } from './app-source.ts';
import { isLocated } from './located.ts';

interface Place {
  readonly file: string;
  readonly line: number;
  readonly column?: number;
}

/**
 * The error of code that could not be loaded, as its author can use it: `app/file.ts:line:column: message`, with paths
 * relative to `base`. Errors that already say so pass through.
 */
export async function loadFailure(
  error: unknown,
  source: AppSource,
  options: { base: string; files: readonly string[] },
): Promise<AppError> {
  if (isLocated(error)) return error;
  const { base, files } = options;
  const code = error instanceof AppError && error.code === 'ConfigurationException' ? error.code : 'app_broken';
  const place = placeOf(error, base) ?? (error instanceof SyntaxError ? await syntaxErrorIn(files) : undefined);
  const file = relative(base, place?.file ?? source.entry);
  const position = place ? `:${place.line}${place.column === undefined ? '' : `:${place.column}`}` : '';
  return new AppError(code, `${file}${position}: ${textOf(error, base)}`, { cause: error });
}

function textOf(error: unknown, base: string): string {
  if (!(error instanceof Error)) return `the code threw ${withoutPaths(String(error), base)}`;
  const name = error instanceof AppError || error.name === 'Error' ? '' : `${error.name}: `;
  return withoutPaths(`${name}${error.message}`, base);
}

/** A path in quotes, which may hold spaces, or one that stands alone: no part of an address or of a longer word. */
const paths = /(?<=')(?:file:\/\/)?\/[^'\n]*\/[^'\n]+(?=')|(?<![\w:/@.-])(?:file:\/\/)?(?:\/[\w.@+~-]+){2,}/g;

/** Messages reach callers, and callers have no business with the folders of this machine. */
function withoutPaths(text: string, base: string): string {
  return text
    .replaceAll(/\?app-module=[\d.]+/g, '')
    .replaceAll(`file://${base}/`, '')
    .replaceAll(`${base}/`, '')
    .replaceAll(paths, (found) => basename(found));
}

/** Where an error comes from: what Node prints above it (`file:line`, code, caret), or its first frame in the folder. */
function placeOf(error: unknown, base: string): Place | undefined {
  const stack = error instanceof Error ? (error.stack ?? '') : '';
  const head = /^(\/[^\n]*|file:[^\n]*):(\d+)\n/.exec(stack);
  if (head?.[1] && head[2]) {
    const caret = /^( *)\^/m.exec(stack.slice(0, stack.indexOf('\n    at ')))?.[1];
    const column = caret === undefined ? {} : { column: caret.length + 1 };
    return { file: pathOf(head[1]), line: Number(head[2]), ...column };
  }
  for (const [, url = '', line = '', column = ''] of stack.matchAll(/(file:[^\s()]+):(\d+):(\d+)/g)) {
    const file = pathOf(url);
    if (isWithin(base, file) && !file.includes('/node_modules/')) {
      return { file, line: Number(line), column: Number(column) };
    }
  }
  return undefined;
}

function pathOf(url: string): string {
  return url.startsWith('file:') ? fileURLToPath(url.replace(/\?.*$/, '')) : url;
}

const run = promisify(execFile);

/** Node keeps to itself where JavaScript has a syntax error, unless it is asked to check the file. */
async function syntaxErrorIn(files: readonly string[]): Promise<Place | undefined> {
  for (const file of files.filter((name) => /\.m?js$/.test(name) && isAbsolute(name))) {
    try {
      await run(process.execPath, ['--check', file], { timeout: 5000, env: {} });
    } catch (error) {
      const said = error instanceof Error && 'stderr' in error ? String(error.stderr) : '';
      const found = /^(.*):(\d+)\n/.exec(said);
      if (found?.[1] && found[2]) return { file: pathOf(found[1]), line: Number(found[2]) };
    }
  }
  return undefined;
}
