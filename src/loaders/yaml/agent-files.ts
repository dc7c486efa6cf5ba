import { readFile } from 'node:fs/promises';
import { dirname, extname, isAbsolute, relative, resolve } from 'node:path';
import { isWithin, realFile } from '../agent-folders.ts';
import { locatedError } from '../located-error.ts';
import { readYaml, type YamlFile } from './document.ts';

/** Levels of nested agent files. */
const maxDepth = 20;
/** A file that is referenced twice is two agents: without a limit a few small files could make millions. */
const maxAgents = 500;
const maxJson = 1_000_000;

export interface AgentFilesOptions {
  /** The real path of the app's folder. References must stay inside it. */
  readonly folder: string;
  /** Files in messages are named relative to this folder. */
  readonly base: string;
  /** Called with each file before it is read. */
  readonly note: (file: string) => void;
  /** Texts that replace the files on disk, by path. */
  readonly overlay?: ReadonlyMap<string, string> | undefined;
}

/** An opened agent file and the files that led to it. */
export interface AgentFile {
  readonly path: string;
  readonly yaml: YamlFile;
  readonly parents: readonly string[];
}

type Refuse = (why: string, options?: ErrorOptions) => Error;

interface Wanted {
  readonly refuse: Refuse;
  readonly ends: readonly string[];
  readonly kind: string;
}

/** Opens the YAML files of one app. Rejects files outside the app's folder and circular references. */
export class AgentFiles {
  readonly #options: AgentFilesOptions;
  #opened = 0;

  constructor(options: AgentFilesOptions) {
    this.#options = options;
  }

  async root(path: string): Promise<AgentFile> {
    return await this.#open(path, []);
  }

  /** The file that `from` refers to at `at`. Throws ConfigurationException with the location of the reference. */
  async follow(reference: string, from: AgentFile, at: readonly PropertyKey[]): Promise<AgentFile> {
    const refuse = refusal(reference, from, at);
    const real = this.#contained(reference, from, { refuse, ends: ['.yaml', '.yml'], kind: 'a YAML file' });
    const chain = [...from.parents, from.path];
    if (chain.includes(real)) {
      const circle = [...chain.slice(chain.indexOf(real)), real].map((file) => relative(this.#options.folder, file));
      throw refuse(`closes a circle: ${circle.join(' -> ')}`);
    }
    if (chain.length >= maxDepth) throw refuse(`is nested deeper than ${maxDepth} agents`);
    return await this.#open(real, chain);
  }

  /** The JSON in the file that `from` refers to at `at`. Throws ConfigurationException with the location of the reference. */
  async json(reference: string, from: AgentFile, at: readonly PropertyKey[]): Promise<unknown> {
    const refuse = refusal(reference, from, at);
    const real = this.#contained(reference, from, { refuse, ends: ['.json'], kind: 'a JSON file' });
    const text = await readFile(real, 'utf8');
    if (text.length > maxJson) throw refuse(`is larger than ${maxJson} characters`);
    try {
      return JSON.parse(text);
    } catch (error) {
      throw refuse('is not JSON', { cause: error });
    }
  }

  /** The real path of the referenced file, inside the app's folder. */
  #contained(reference: string, from: AgentFile, { refuse, ends, kind }: Wanted): string {
    const wanted = reference.trim();
    if (isAbsolute(wanted) || /^[a-z]:|^\\|^file:/i.test(wanted))
      throw refuse('is an absolute path: name it relative to this file');
    const path = resolve(dirname(from.path), wanted);
    if (!isWithin(this.#options.folder, path)) throw refuse('leads out of the folder of the app');
    if (!ends.includes(extname(path))) throw refuse(`is not ${kind}`);
    if (this.#options.overlay?.has(path)) return path;
    const real = this.#realFile(path, refuse);
    if (real === undefined) throw refuse('does not exist');
    if (!isWithin(this.#options.folder, real)) throw refuse('is a link that leads out of the folder of the app');
    return real;
  }

  /** A name that no file can have (too long, or with a NUL) is an error of the reference, not of the system. */
  #realFile(path: string, refuse: Refuse): string | undefined {
    try {
      this.#options.note(path);
      return realFile(path);
    } catch (cause) {
      throw refuse('cannot be the name of a file', { cause });
    }
  }

  async #open(path: string, parents: readonly string[]): Promise<AgentFile> {
    this.#opened += 1;
    const name = relative(this.#options.base, path);
    if (this.#opened > maxAgents) throw locatedError(`${name}:1:1: the app has more than ${maxAgents} agents`);
    this.#options.note(path);
    const text = this.#options.overlay?.get(path) ?? textOf(await readFile(path));
    return { path, yaml: readYaml(text, name), parents };
  }
}

/** The byte order mark decides the encoding, as YAML specifies. */
function textOf(bytes: Uint8Array): string {
  const mark = ((bytes[0] ?? 0) << 8) | (bytes[1] ?? 0);
  const encoding = mark === 0xfffe ? 'utf-16le' : mark === 0xfeff ? 'utf-16be' : 'utf-8';
  return new TextDecoder(encoding).decode(bytes);
}

const refusal =
  (reference: string, from: AgentFile, at: readonly PropertyKey[]): Refuse =>
  (why, options) =>
    from.yaml.fail(at, `"${shortened(reference.trim())}" ${why}`, options);

const shortened = (text: string): string => (text.length > 100 ? `${text.slice(0, 100)} …` : text);
