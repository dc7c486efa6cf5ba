import { execFile } from 'node:child_process';
import { basename, isAbsolute, relative } from 'node:path';
import { promisify } from 'node:util';
import { AppError } from '../base/errors.ts';
import { type CodePlace, pathOf, thrownAt } from '../base/thrown-at.ts';
import { isWithin } from './agent-folders.ts';
import type { AppSource } from './app-source.ts';
import { isLocated } from './located-error.ts';

type CodeLocation = Pick<CodePlace, 'file' | 'line'> & Partial<CodePlace>;

/**
 * The error of code that could not be loaded, for its author: `app/file.ts:line:column: message`, with paths relative
 * to `base`. Errors with a location stay unchanged.
 */
export async function loadFailure(
  error: unknown,
  source: AppSource,
  options: { base: string; files: readonly string[] },
): Promise<AppError> {
  if (isLocated(error)) return error;
  const { base, files } = options;
  const code = error instanceof AppError && error.code === 'ConfigurationException' ? error.code : 'app_broken';
  const location = locationOf(error, base) ?? (error instanceof SyntaxError ? await syntaxErrorIn(files) : undefined);
  const file = relative(base, location?.file ?? source.entry);
  const position = location ? `:${location.line}${location.column === undefined ? '' : `:${location.column}`}` : '';
  return new AppError(code, `${file}${position}: ${textOf(error, base)}`, { cause: error });
}

function textOf(error: unknown, base: string): string {
  if (!(error instanceof Error)) return `the code threw ${withoutPaths(String(error), base)}`;
  const name = error instanceof AppError || error.name === 'Error' ? '' : `${error.name}: `;
  return withoutPaths(`${name}${error.message}`, base);
}

/** A path in quotes, which may contain spaces, or an unquoted one that is no part of a URL or a longer word. */
const paths = /(?<=')(?:file:\/\/)?\/[^'\n]*\/[^'\n]+(?=')|(?<![\w:/@.-])(?:file:\/\/)?(?:\/[\w.@+~-]+){2,}/g;

/** Shortens paths: messages reach clients, which must not learn the folders of this machine. */
function withoutPaths(text: string, base: string): string {
  return text
    .replaceAll(/\?app-module=[\d.]+/g, '')
    .replaceAll(`file://${base}/`, '')
    .replaceAll(`${base}/`, '')
    .replaceAll(paths, (found) => basename(found));
}

/** The origin of an error: what Node prints above it (`file:line`, code, caret), or its first stack frame in the folder. */
function locationOf(error: unknown, base: string): CodeLocation | undefined {
  const stack = error instanceof Error ? (error.stack ?? '') : '';
  const head = /^(\/[^\n]*|file:[^\n]*):(\d+)\n/.exec(stack);
  const file = head?.[1] === undefined ? undefined : pathOf(head[1]);
  if (file !== undefined && head?.[2]) {
    const caret = /^( *)\^/m.exec(stack.slice(0, stack.indexOf('\n    at ')))?.[1];
    const column = caret === undefined ? {} : { column: caret.length + 1 };
    return { file, line: Number(head[2]), ...column };
  }
  return thrownAt(error, (path) => isWithin(base, path) && !path.includes('/node_modules/'));
}

const run = promisify(execFile);

/** Node tells the location of a JavaScript syntax error only when it checks the file (`node --check`). */
async function syntaxErrorIn(files: readonly string[]): Promise<CodeLocation | undefined> {
  for (const file of files.filter((name) => /\.m?js$/.test(name) && isAbsolute(name))) {
    try {
      await run(process.execPath, ['--check', file], { timeout: 5000, env: {} });
    } catch (error) {
      const output = error instanceof Error && 'stderr' in error ? String(error.stderr) : '';
      const found = /^(.*):(\d+)\n/.exec(output);
      const place = found?.[1] === undefined ? undefined : pathOf(found[1]);
      if (place !== undefined && found?.[2]) return { file: place, line: Number(found[2]) };
    }
  }
  return undefined;
}
