import { readdirSync } from 'node:fs';
import { basename, join, relative } from 'node:path';
import { didYouMean } from '../../base/closest.ts';
import { AppError } from '../../base/errors.ts';
import { isJsonObject, type JsonObject } from '../../base/json.ts';
import { isWithin, realFile } from '../agent-folders.ts';
import { locatedError } from '../located-error.ts';

const registryFiles = ['registry', 'agent'].flatMap((name) =>
  ['ts', 'mts', 'js', 'mjs'].map((end) => `${name}.${end}`),
);

/** The code that a YAML app may name: the exports of its `registry.ts` (or `agent.ts`), and nothing else. */
export class Registry {
  readonly #file: string | undefined;
  /** Objects to look up names in, in order of preference. */
  readonly #scopes: readonly JsonObject[];
  readonly #prefix: string;

  constructor(folder: string, file?: string, exports: Record<string, unknown> = {}) {
    this.#file = file;
    this.#prefix = `${basename(folder)}.`;
    const own = { ...exports };
    this.#scopes = [own['registry'], own].filter(isJsonObject);
  }

  /** Finds exactly this name: a key of the exported `registry`, or an export. */
  exact(name: string): unknown {
    for (const scope of this.#scopes) if (Object.hasOwn(scope, name)) return scope[name];
    return undefined;
  }

  /**
   * Tries the name unchanged, without a leading app name, as a path along its dots, and by its last part: a Python path
   * (`my_app.tools.roll_die`) finds the export `roll_die`.
   */
  find(name: string): unknown {
    const local = name.startsWith(this.#prefix) ? name.slice(this.#prefix.length) : name;
    const found = this.exact(name) ?? this.exact(local);
    if (found !== undefined) return found;
    for (const scope of this.#scopes) {
      const nested = along(scope, local.split('.'));
      if (nested !== undefined) return nested;
    }
    return this.exact(local.slice(local.lastIndexOf('.') + 1));
  }

  /** Throws ConfigurationException when the name is not found. */
  get(name: string, what: string): unknown {
    const found = this.find(name);
    if (found !== undefined) return found;
    const names = this.#scopes.flatMap((scope) => Object.keys(scope));
    const where = this.#file ?? `a registry.ts beside root_agent.yaml, which is missing,`;
    throw new AppError(
      'ConfigurationException',
      `${what} "${name}" not found in ${where}${didYouMean(name.slice(name.lastIndexOf('.') + 1), names)}`,
    );
  }
}

/** Imports the registry beside an app's YAML file. Throws for a link that leads out of the folder. */
export async function loadRegistry(
  folder: string,
  options: { base: string; note(file: string): void; importModule(file: string): Promise<Record<string, unknown>> },
): Promise<Registry> {
  // A registry file may be created later, also one that takes precedence.
  for (const name of registryFiles) options.note(join(folder, name));
  const present = readdirSync(folder);
  const name = registryFiles.find((file) => present.includes(file));
  if (name === undefined) return new Registry(folder);
  const file = realFile(join(folder, name));
  if (file === undefined || !isWithin(folder, file)) {
    throw locatedError(
      `${relative(options.base, join(folder, name))}:1:1: is a link that leads out of the folder of the app`,
    );
  }
  return new Registry(folder, name, await options.importModule(file));
}

function along(scope: JsonObject, path: readonly string[]): unknown {
  let found: unknown = scope;
  for (const part of path) {
    if (!isJsonObject(found) || !Object.hasOwn(found, part)) return undefined;
    found = found[part];
  }
  return found;
}
