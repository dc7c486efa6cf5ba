import { readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { compileFunction } from 'node:vm';
import { FunctionModule, type ImportAttributes, type ModuleSource, type Namespace } from './function-module.ts';
import { importNative, resolveFrom } from './node-resolve.ts';
import { translateModule } from './translate-module.ts';

/**
 * Runs ES modules as functions. Node never unloads a module it has imported; these go when nothing uses them any more.
 * Whatever is not an ES module, and what we cannot read, is left to Node.
 */
export class FunctionModules {
  /** By URL. `undefined` is left to Node. */
  readonly #modules = new Map<string, FunctionModule | undefined>();
  readonly #isOurs: (url: string) => boolean;

  /** `isOurs` tells which modules are to be run as functions. */
  constructor(isOurs: (url: string) => boolean) {
    this.#isOurs = isOurs;
  }

  /** What the module exports, after it has run. */
  async import(url: string, attributes: ImportAttributes = {}): Promise<Namespace> {
    const unread: string[] = [];
    const module = this.#prepare(url, unread);
    // Fails, as a rule, and then before anything has run.
    for (const file of unread) await importNative(file);
    return module ? await module.evaluate() : await importNative(url, attributes);
  }

  forget(url: string): void {
    this.#modules.delete(url);
  }

  /** Reads a module and all it imports that have not been read yet. */
  #prepare(url: string, unread: string[], format?: string | null): FunctionModule | undefined {
    if (!this.#isOurs(url)) return undefined;
    if (this.#modules.has(url)) return this.#modules.get(url);
    const read = format?.startsWith('commonjs') ? undefined : readModule(url);
    if (read === 'unreadable') unread.push(url);
    if (read === undefined || read === 'unreadable') {
      this.#modules.set(url, undefined);
      return undefined;
    }
    const module = new FunctionModule({
      ...read,
      url,
      importModule: async (specifier, attributes) => await this.import(resolveFrom(specifier, url).url, attributes),
    });
    this.#modules.set(url, module);
    try {
      for (const request of read.requests) {
        const found = resolveFrom(request.specifier, url);
        module.link(request, found.url, this.#prepare(found.url, unread, found.format));
      }
    } catch (error) {
      this.#modules.delete(url);
      throw error;
    }
    return module;
  }
}

/** A file as the function it can be; `undefined` when it is no ES module, or does not look like one. */
function readModule(url: string): ModuleSource | 'unreadable' | undefined {
  const file = fileURLToPath(url.replace(/\?.*$/, ''));
  const end = extname(file);
  if (!/^\.m?[jt]s$/.test(end)) return undefined;
  const text = readFileSync(file, 'utf8').replace(/^\uFEFF/, '');
  try {
    const source = end.endsWith('ts') ? withoutTypes(text) : text;
    const { body, parameters, isModule, ...translated } = translateModule(source);
    if (!isModule) return undefined;
    const start = compileFunction(body, [...parameters], { filename: url, lineOffset: -1 });
    return { ...translated, source, start };
  } catch {
    return 'unreadable'; // Node has the words for what is wrong with it, if anything is
  }
}

/** As Node's own imports do it. Node warns, once, that this way of asking for it may change: nothing an author can mend. */
function withoutTypes(source: string): string {
  const warning = Object.getOwnPropertyDescriptor(process, 'emitWarning');
  Object.defineProperty(process, 'emitWarning', { value: () => {}, configurable: true, writable: true });
  try {
    return stripTypeScriptTypes(source);
  } finally {
    if (warning) Object.defineProperty(process, 'emitWarning', warning);
    else Reflect.deleteProperty(process, 'emitWarning');
  }
}
