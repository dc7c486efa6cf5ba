import { registerHooks } from 'node:module';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { FunctionModules } from './function-modules.ts';

interface ModuleNode {
  /** Which edit of the file this is: another number is another module. */
  edit: number;
  readonly importers: Set<string>;
}

const marker = 'app-module';
const firstEdit = 1;
const open = new Map<string, AppModules>();
let hooked = false;
let count = 0;

/**
 * The modules of one app. Imports its entry, keeps book of every file that is reached from there (packages left out),
 * and runs changed files again, with all that import them and nothing else.
 *
 * What was there at first is imported by Node, which never unloads a module. What runs again runs as functions: of
 * these, old versions go with their last user.
 */
export class AppModules {
  readonly #id = String((count += 1));
  /** By file URL. Files that an import named but that are not there are kept too: they may come. */
  readonly #modules = new Map<string, ModuleNode>();
  readonly #onReach: (file: string) => void;
  #edits = firstEdit;
  /** What has been run again. Made at the first edit: its parser is not loaded before it is needed. */
  #functions: FunctionModules | undefined;

  /** `onReach` is told of each file before it is read. */
  constructor(onReach: (file: string) => void) {
    this.#onReach = onReach;
    open.set(this.#id, this);
    if (hooked) return;
    hooked = true;
    registerHooks({
      resolve(specifier, context, nextResolve) {
        const parent = parse(context.parentURL);
        if (!parent) return nextResolve(specifier, context);
        const modules = open.get(parent.id);
        try {
          const result = nextResolve(specifier, { ...context, parentURL: parent.file });
          if (!isOwnFile(result.url)) return result;
          // A closed app may still be at work: what it imports late belongs to the version it is.
          return { ...result, url: modules?.reach(result.url, parent.file) ?? result.url + parent.query };
        } catch (error) {
          if (/^\.{0,2}\//.test(specifier)) modules?.reach(new URL(specifier, parent.file).href, parent.file);
          throw error;
        }
      },
    });
  }

  /** Runs the file, or gives what it exported when neither it nor anything it imports has changed. */
  async import(file: string): Promise<Record<string, unknown>> {
    const url = this.reach(pathToFileURL(file).href);
    if (!isRunAgain(url)) return (await import(url)) as Record<string, unknown>;
    const { FunctionModules } = await import('./function-modules.ts');
    this.#functions ??= new FunctionModules(isRunAgain);
    return await this.#functions.import(url);
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
      this.#functions?.forget(this.#address(url, node));
      node.edit = this.#edits;
      pending.push(...node.importers);
    }
  }

  close(): void {
    open.delete(this.#id);
  }

  /** The URL to import a file by, now that this module imports it. For the resolve hook. */
  reach(url: string, importer?: string): string {
    let node = this.#modules.get(url);
    if (!node) {
      // What a module of Node imports late is Node's as well.
      const isLate = importer !== undefined && this.#modules.get(importer)?.edit === firstEdit;
      node = { edit: isLate ? firstEdit : this.#edits, importers: new Set() };
      this.#modules.set(url, node);
    }
    if (importer !== undefined) node.importers.add(importer);
    this.#onReach(fileURLToPath(url));
    return this.#address(url, node);
  }

  #address(url: string, { edit }: ModuleNode): string {
    return `${url}?${marker}=${this.#id}.${edit}`;
  }
}

const ours = new RegExp(`^(file:[^?]+)(\\?${marker}=(\\d+)\\.(\\d+))$`);

function parse(url: string | undefined): { file: string; query: string; id: string; edit: number } | undefined {
  const [, file, query, id, edit] = (url === undefined ? null : ours.exec(url)) ?? [];
  return file && query && id && edit ? { file, query, id, edit: Number(edit) } : undefined;
}

const isRunAgain = (url: string): boolean => (parse(url)?.edit ?? firstEdit) > firstEdit;

const serverSources = new URL('../', import.meta.url).href;

/** Whether a module belongs to the apps rather than to a package or to this server. */
function isOwnFile(url: string): boolean {
  return (
    url.startsWith('file:') && !url.includes('?') && !url.includes('/node_modules/') && !url.startsWith(serverSources)
  );
}
