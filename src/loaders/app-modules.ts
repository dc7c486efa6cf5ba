import { readFileSync } from 'node:fs';
import { createRequire, registerHooks } from 'node:module';
import { fileURLToPath, pathToFileURL } from 'node:url';

interface ModuleNode {
  /** Which edit of the file this is: another number is another module. */
  edit: number;
  readonly importers: Set<string>;
}

const urlParameter = 'app-module';
const open = new Map<string, AppModules>();
let hooked = false;
let count = 0;

/** CommonJS modules are kept by file, whatever the query of their URL says. */
const { cache: commonJsModules } = createRequire(import.meta.url);

/**
 * The modules of one app. Imports its entry, keeps book of every file that is reached from there (packages left out),
 * and imports changed files anew, with all that import them and nothing else: an edited file is another module, because
 * its URL names the edit. Node never unloads a module, so each edit costs memory until the server restarts.
 */
export class AppModules {
  readonly #id = String((count += 1));
  /** By file URL. Files that an import named but that are not there are kept too: they may come. */
  readonly #modules = new Map<string, ModuleNode>();
  readonly #onNewFile: (file: string) => void;
  #edits = 1;

  /** `onReach` is called with each file before it is read for the first time. */
  constructor(onReach: (file: string) => void) {
    this.#onNewFile = onReach;
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
          // A closed app may still be at work: what it imports late belongs to the version it is.
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

  /** Runs the file, or gives what it exported when neither it nor anything it imports has changed. */
  async import(file: string): Promise<Record<string, unknown>> {
    return (await import(this.urlFor(pathToFileURL(file).href))) as Record<string, unknown>;
  }

  /** Every file reached so far, as absolute paths. */
  files(): string[] {
    return [...this.#modules.keys()].map((url) => fileURLToPath(url));
  }

  /** Has these files, and what imports them, run again at the next import. */
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

  /** The URL to import a file by, now that this module imports it. For the resolve hook. */
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

/** A line that only an ES module can have: CommonJS with one of these is a syntax error. */
const moduleSyntax = /^\s*(?:import|export)(?:\s+[\w$]|\s*["'{*])/m;

/**
 * How to load a `.ts` or `.js` file that is written as an ES module, whatever the `"type"` of the package.json above it
 * says (`npm init` writes `"commonjs"`). `undefined`: Node decides, as for every other file.
 */
function moduleFormat(url: string): 'module-typescript' | 'module' | undefined {
  const ending = /\.([jt])s$/.exec(url)?.[1];
  if (ending === undefined || !moduleSyntax.test(readFileSync(fileURLToPath(url), 'utf8'))) return undefined;
  return ending === 't' ? 'module-typescript' : 'module';
}

/** Notes what a CommonJS module of an app requires: such modules are known by their file alone. */
function recordRequired(url: string, importer: string | undefined): void {
  if (importer === undefined || !isOwnFile(importer)) return;
  for (const modules of open.values()) if (modules.has(importer)) modules.urlFor(url, importer);
}

const serverSources = new URL('../', import.meta.url).href;

/** Whether a module belongs to the apps rather than to a package or to this server. */
function isOwnFile(url: string): boolean {
  return (
    url.startsWith('file:') && !url.includes('?') && !url.includes('/node_modules/') && !url.startsWith(serverSources)
  );
}
