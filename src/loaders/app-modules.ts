import { registerHooks } from 'node:module';
import { fileURLToPath, pathToFileURL } from 'node:url';

interface ModuleNode {
  /** Which edit of the file this is. A new number is a new module for Node, which never unloads one. */
  edit: number;
  readonly importers: Set<string>;
}

const marker = 'app-module';
const open = new Map<string, AppModules>();
let hooked = false;
let count = 0;

/**
 * The modules of one app. Imports its entry, keeps book of every file that is reached from there (packages left out),
 * and runs changed files again, with all that import them and nothing else.
 */
export class AppModules {
  readonly #id = String((count += 1));
  /** By file URL. Files that an import named but that are not there are kept too: they may come. */
  readonly #modules = new Map<string, ModuleNode>();
  readonly #onReach: (file: string) => void;
  #edits = 1;

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
          const result = nextResolve(specifier, context);
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
    return (await import(this.reach(pathToFileURL(file).href))) as Record<string, unknown>;
  }

  /** Every file reached so far, as absolute paths. */
  files(): string[] {
    return [...this.#modules.keys()].map((url) => fileURLToPath(url));
  }

  /** Has these files, and what imports them, run again at the next import. */
  changed(files: Iterable<string>): void {
    const pending = Array.from(files, (file) => pathToFileURL(file).href);
    this.#edits += 1;
    for (let url = pending.pop(); url !== undefined; url = pending.pop()) {
      const node = this.#modules.get(url);
      if (!node || node.edit === this.#edits) continue;
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
      node = { edit: this.#edits, importers: new Set() };
      this.#modules.set(url, node);
    }
    if (importer !== undefined) node.importers.add(importer);
    this.#onReach(fileURLToPath(url));
    return `${url}?${marker}=${this.#id}.${node.edit}`;
  }
}

const ours = new RegExp(`^(file:[^?]+)(\\?${marker}=(\\d+)\\.\\d+)$`);

function parse(url: string | undefined): { file: string; query: string; id: string } | undefined {
  const match = url === undefined ? null : ours.exec(url);
  return match?.[1] && match[2] && match[3] ? { file: match[1], query: match[2], id: match[3] } : undefined;
}

const serverSources = new URL('../', import.meta.url).href;

/** Whether a module belongs to the apps rather than to a package or to this server. */
function isOwnFile(url: string): boolean {
  return (
    url.startsWith('file:') && !url.includes('?') && !url.includes('/node_modules/') && !url.startsWith(serverSources)
  );
}
