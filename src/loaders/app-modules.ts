import { readFileSync } from 'node:fs';
import { createRequire, registerHooks } from 'node:module';
import { fileURLToPath, pathToFileURL } from 'node:url';

interface ModuleNode {
  /** The edit of the file that is loaded: each edit is a new module. */
  edit: number;
  readonly importers: Set<string>;
}

const urlParameter = 'app-module';
const open = new Map<string, AppModules>();
let hooked = false;
let count = 0;

/** Node caches CommonJS modules by file, without the query of their URL. */
const { cache: commonJsModules } = createRequire(import.meta.url);

/**
 * The modules of one app. Imports its entry and records every file imported from there, except packages. Imports
 * changed files anew, and the files that import them: the URL contains the number of the edit, so each edit is a new
 * module. Node never unloads a module, so each edit costs memory until the server restarts.
 */
export class AppModules {
  readonly #id = String((count += 1));
  /** By file URL. Imported files that do not exist are recorded, too: they may be created later. */
  readonly #modules = new Map<string, ModuleNode>();
  readonly #onNewFile: (file: string) => void;
  #edits = 1;

  /** `onNewFile` is called with each file before it is read for the first time. */
  constructor(onNewFile: (file: string) => void) {
    this.#onNewFile = onNewFile;
    open.set(this.#id, this);
    if (hooked) return;
    hooked = true;
    registerHooks({
      resolve(specifier, context, nextResolve) {
        const parent = parse(context.parentURL);
        if (!parent) {
          const result = nextResolve(specifier, context);
          if (isOwnFile(result.url)) recordRequired(result.url, context.parentURL);
          return result;
        }
        const modules = open.get(parent.id);
        try {
          const result = nextResolve(specifier, { ...context, parentURL: parent.file });
          if (!isOwnFile(result.url)) return result;
          // A closed app may still run: a late import belongs to its own version.
          return { ...result, url: modules?.urlFor(result.url, parent.file) ?? result.url + parent.query };
        } catch (error) {
          if (/^\.{0,2}\//.test(specifier)) modules?.urlFor(new URL(specifier, parent.file).href, parent.file);
          throw error;
        }
      },
      load(url, context, nextLoad) {
        const file = parse(url)?.file;
        const format = file === undefined ? undefined : moduleFormat(file);
        return nextLoad(url, format === undefined ? context : { ...context, format });
      },
    });
  }

  /** The exports of the file. Runs it again if it or anything it imports has changed. */
  async import(file: string): Promise<Record<string, unknown>> {
    return (await import(this.urlFor(pathToFileURL(file).href))) as Record<string, unknown>;
  }

  /** Every file reached so far, as absolute paths. */
  files(): string[] {
    return [...this.#modules.keys()].map((url) => fileURLToPath(url));
  }

  /** Makes these files, and the files that import them, run again at the next import. */
  changed(files: Iterable<string>): void {
    const pending = Array.from(files, (file) => pathToFileURL(file).href).filter((url) => this.#modules.has(url));
    if (pending.length === 0) return;
    this.#edits += 1;
    for (let url = pending.pop(); url !== undefined; url = pending.pop()) {
      const node = this.#modules.get(url);
      if (!node || node.edit === this.#edits) continue;
      node.edit = this.#edits;
      Reflect.deleteProperty(commonJsModules, fileURLToPath(url));
      pending.push(...node.importers);
    }
  }

  close(): void {
    open.delete(this.#id);
  }

  has(url: string): boolean {
    return this.#modules.has(url);
  }

  /** The URL to import a file by; records that `importer` imports it. For the resolve hook. */
  urlFor(url: string, importer?: string): string {
    let node = this.#modules.get(url);
    if (!node) {
      this.#modules.set(url, (node = { edit: this.#edits, importers: new Set() }));
      this.#onNewFile(fileURLToPath(url));
    }
    if (importer !== undefined) node.importers.add(importer);
    return `${url}?${urlParameter}=${this.#id}.${node.edit}`;
  }
}

const appModuleUrl = new RegExp(`^(file:[^?]+)(\\?${urlParameter}=(\\d+)\\.\\d+)$`);

function parse(url: string | undefined): { file: string; query: string; id: string } | undefined {
  const [, file, query, id] = (url === undefined ? null : appModuleUrl.exec(url)) ?? [];
  return file && query && id ? { file, query, id } : undefined;
}

/** A line that only ES modules can have: a syntax error in CommonJS. */
const moduleSyntax = /^\s*(?:import|export)(?:\s+[\w$]|\s*["'{*])/m;

/**
 * The format of a `.ts` or `.js` file that is written as an ES module, even if the nearest package.json has another
 * `"type"` (`npm init` writes `"commonjs"`). `undefined`: Node decides, as for every other file.
 */
function moduleFormat(url: string): 'module-typescript' | 'module' | undefined {
  const ending = /\.([jt])s$/.exec(url)?.[1];
  if (ending === undefined || !moduleSyntax.test(readFileSync(fileURLToPath(url), 'utf8'))) return undefined;
  return ending === 't' ? 'module-typescript' : 'module';
}

/** Records a `require` of a CommonJS module of an app: Node identifies such modules by their file alone. */
function recordRequired(url: string, importer: string | undefined): void {
  if (importer === undefined || !isOwnFile(importer)) return;
  for (const modules of open.values()) if (modules.has(importer)) modules.urlFor(url, importer);
}

const serverSources = new URL('../', import.meta.url).href;

/** Whether a module belongs to an app, and not to a package or this server. */
function isOwnFile(url: string): boolean {
  return (
    url.startsWith('file:') && !url.includes('?') && !url.includes('/node_modules/') && !url.startsWith(serverSources)
  );
}
