import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { addressFrom, importNative } from './node-resolve.ts';
import type { ModuleRequest } from './translate-module.ts';

export type Namespace = Record<string, unknown>;
export type ImportAttributes = Readonly<Record<string, string>>;

export interface ModuleSource {
  /** Runs the module; called with what `TranslatedModule` names. */
  readonly start: Function;
  readonly source: string;
  readonly requests: readonly ModuleRequest[];
  /** What it exports by itself. */
  readonly names: readonly string[];
}

export interface FunctionModuleOptions extends ModuleSource {
  /** Where its file is; a query tells versions apart. */
  readonly url: string;
  /** `import()` in the module: of what `specifier` means there. */
  readonly importModule: (specifier: string, attributes: ImportAttributes) => Promise<Namespace>;
}

interface Link {
  readonly request: ModuleRequest;
  readonly url: string;
  /** Absent for what Node runs. */
  readonly module: FunctionModule | undefined;
}

/** One ES module that runs as a function, once. */
export class FunctionModule {
  readonly #options: FunctionModuleOptions;
  readonly #exports: Namespace = Object.create(null, { [Symbol.toStringTag]: { value: 'Module' } }) as Namespace;
  readonly #links: Link[] = [];
  /** Modules whose end it waits for right now. */
  readonly #waitsFor = new Set<FunctionModule>();
  #evaluation: Promise<Namespace> | undefined;

  constructor(options: FunctionModuleOptions) {
    this.#options = options;
  }

  /** Says what the next request of the source leads to. Call it for each, in order, before `evaluate`. */
  link(request: ModuleRequest, url: string, module: FunctionModule | undefined): void {
    this.#links.push({ request, url, module });
  }

  /** Runs what it imports and then itself, unless that has begun. Resolves with what it exports. */
  evaluate(): Promise<Namespace> {
    this.#evaluation ??= this.#run();
    return this.#evaluation;
  }

  async #run(): Promise<Namespace> {
    const { url, start, importModule } = this.#options;
    const modules = this.#links.map(({ module }) => (module ? module.#exports : undefined));
    const file = fileURLToPath(url.replace(/\?.*$/, ''));
    await Reflect.apply(start, undefined, [
      modules,
      (getters: Readonly<Record<string, () => unknown>>) => this.#define(getters),
      () => this.#load(modules),
      async (specifier: unknown, options?: { with?: ImportAttributes }) =>
        await importModule(String(specifier), options?.with ?? {}),
      {
        __proto__: null,
        dirname: dirname(file),
        filename: file,
        main: false,
        resolve: (specifier: unknown) => addressFrom(String(specifier), url),
        url,
      },
      <T>(called: T): T => called,
    ]);
    return this.#exports;
  }

  #define(getters: Readonly<Record<string, () => unknown>>): void {
    for (const name of Object.keys(getters).toSorted()) {
      Object.defineProperty(this.#exports, name, { enumerable: true, get: getters[name] });
    }
  }

  /** Runs the modules it imports, one after the other, except for those that wait for this one: a circle. */
  async #load(modules: (Namespace | undefined)[]): Promise<void> {
    for (const [index, { request, url, module }] of this.#links.entries()) {
      const found = module ? await this.#await(module) : await importNative(url, request.attributes);
      modules[index] = found;
      for (const { name, at } of request.names) {
        if (!(name in found || (module && module.#mayExport(name)))) throw this.#missing(request.specifier, name, at);
      }
      if (!request.isStar) continue;
      const passedOn = Object.keys(found).filter((name) => name !== 'default' && !(name in this.#exports));
      this.#define(Object.fromEntries(passedOn.map((name) => [name, () => found[name]])));
    }
  }

  async #await(module: FunctionModule): Promise<Namespace> {
    if (module.#isWaitingFor(this)) return module.#exports;
    this.#waitsFor.add(module);
    try {
      return await module.evaluate();
    } finally {
      this.#waitsFor.delete(module);
    }
  }

  #isWaitingFor(other: FunctionModule): boolean {
    const seen = new Set<FunctionModule>([this]);
    for (const module of seen) {
      if (module === other) return true;
      for (const next of module.#waitsFor) seen.add(next);
    }
    return false;
  }

  /** While it has not got so far itself. */
  #mayExport(name: string): boolean {
    return this.#options.names.includes(name) || this.#links.some(({ request }) => request.isStar);
  }

  /** As Node words it, with the place it would name. */
  #missing(specifier: string, name: string, at: number): SyntaxError {
    const { source, url } = this.#options;
    const error = new SyntaxError(`The requested module '${specifier}' does not provide an export named '${name}'`);
    const before = source.slice(0, at).split('\n');
    const start = at - (before.at(-1)?.length ?? 0);
    const [line = ''] = source.slice(start).split('\n', 1);
    error.stack = `${url}:${before.length}\n${line}\n${' '.repeat(at - start)}^\n${error.stack ?? ''}`;
    return error;
  }
}
