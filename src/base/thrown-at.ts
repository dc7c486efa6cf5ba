import { readFileSync } from 'node:fs';
import { SourceMap, type SourceMapPayload } from 'node:module';
import { dirname, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

/** A place in a file. The path is absolute; lines and columns count from 1. */
export interface CodePlace {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/** The folder of this server's own code: `src`, or `dist` once it is built. */
const ownFolder = fileURLToPath(new URL('../', import.meta.url));

/** Whether a file is an author's: neither this server's nor a package's. */
export const isAuthorFile = (file: string): boolean => !file.startsWith(ownFolder) && !file.includes('/node_modules/');

/** Causes that are followed. They may go in a circle. */
const maxCauses = 8;

/**
 * Where code of an author threw: the first frame of the error's stack in one of its files, else that of its cause.
 * `undefined` for values without a stack, and for what only the server and its packages took part in.
 */
export function thrownAt(error: unknown, isWanted: (file: string) => boolean = isAuthorFile): CodePlace | undefined {
  let current: unknown = error;
  try {
    for (let depth = 0; depth < maxCauses && current instanceof Error; depth += 1) {
      for (const place of framesOf(current)) if (isWanted(place.file)) return originOf(place);
      current = current.cause;
    }
  } catch {
    return undefined; // an error whose properties throw
  }
  return undefined;
}

/** The frames of a stack that lie in files, outermost call last. */
export function* framesOf({ stack, message }: Error): Generator<CodePlace, void, void> {
  if (typeof stack !== 'string') return;
  // The stack begins with the message, which may look like frames.
  const start = typeof message === 'string' && stack.includes(message) ? stack.indexOf(message) + message.length : 0;
  for (const [, rest = ''] of stack.slice(start).matchAll(/^ +at (.+)$/gm)) {
    // Of code in `eval`, the first place is the call of `eval`.
    const [, at, line, column] = /(?:^|[\s(])((?:file:\/\/)?\/.*?):(\d+):(\d+)(?=\)|$)/.exec(rest) ?? [];
    const file = at === undefined ? undefined : pathOf(at);
    if (file !== undefined) yield { file, line: Number(line), column: Number(column) };
  }
}

/** A file's path. A module that was loaded again after an edit has a query in its URL. */
export function pathOf(at: string): string | undefined {
  try {
    return at.startsWith('file:') ? fileURLToPath(at.replace(/[?#].*$/, '')) : at;
  } catch {
    return undefined; // no URL that Node could have made
  }
}

/** The place in the source that JavaScript was compiled from, if it names its source map; else the place itself. */
function originOf(place: CodePlace): CodePlace {
  if (!/\.[cm]?js$/.test(place.file)) return place;
  try {
    const [, url] = /\/\/# sourceMappingURL=(\S+)\s*$/.exec(readFileSync(place.file, 'utf8')) ?? [];
    if (url === undefined) return place;
    const { text, folder } = readMap(url, place.file);
    const payload = JSON.parse(text) as SourceMapPayload;
    const origin = new SourceMap(payload).findOrigin(place.line, place.column);
    if (!('fileName' in origin)) return place;
    const source = resolve(folder, payload.sourceRoot ?? '', pathOf(origin.fileName) ?? '');
    return { file: source, line: origin.lineNumber, column: origin.columnNumber };
  } catch {
    return place; // no map, or none that can be read
  }
}

function readMap(url: string, file: string): { text: string; folder: string } {
  const inline = /^data:application\/json[^,]*;base64,(.+)$/.exec(url)?.[1];
  if (inline !== undefined) return { text: Buffer.from(inline, 'base64').toString(), folder: dirname(file) };
  const path = fileURLToPath(new URL(url, pathToFileURL(file)));
  return { text: readFileSync(path, 'utf8'), folder: dirname(path) };
}
