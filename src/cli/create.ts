import { lstatSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { basename, isAbsolute, join, relative } from 'node:path';
import { stdin, stdout } from 'node:process';
import { fileURLToPath } from 'node:url';
import type { Config } from '../app/config.ts';
import { inspectFolder, isFolder } from '../loaders/agent-folders.ts';
import { agentNameFault } from '../schemas/names.ts';
import { type NewFiles, typescriptFiles, yamlFiles } from './create-files.ts';
import { lineSource } from './line-source.ts';
import { UsageError } from './usage-error.ts';

export interface CreateOptions {
  readonly name: string | undefined;
  readonly flags: ReadonlyMap<string, string | true>;
  readonly cwd: string;
}

const schemaFile = fileURLToPath(new URL('../../schema/agent.schema.json', import.meta.url));
const maxNameLength = 64;

/**
 * Creates an app in the agents folder and returns the exit code. At a terminal it asks for missing values. Throws
 * UsageError for an invalid name, and for one that exists already.
 */
export async function create({ agents }: Config, { name: given, flags, cwd }: CreateOptions): Promise<number> {
  if (flags.has('yaml') && flags.has('typescript')) throw new UsageError('Choose one of --typescript and --yaml');
  const leaving = new AbortController();
  const lines = lineSource({ input: stdin, output: stdout }, () => leaving.abort());
  const ask = async (prompt: string): Promise<string> => (await lines.ask(prompt, leaving.signal))?.trim() ?? '';

  const name = given ?? (lines.isTerminal ? await ask('Name of the app: ') : '');
  if (name === '') throw new UsageError('Name the app: create <name>');
  const folder = folderFor(name, agents);
  let isYaml = flags.has('yaml');
  if (!isYaml && !flags.has('typescript') && lines.isTerminal) {
    isYaml = /^y/i.test(await ask('TypeScript or YAML? [t/y] '));
  }
  if (leaving.signal.aborted) return 130;
  const agent = name.replaceAll(/[^\p{ID_Continue}]/gu, '_').replace(/^(?!\p{ID_Start}|_)/u, '_');
  const schemaPath = relative(folder, schemaFile).replaceAll('\\', '/');
  const files = isYaml ? yamlFiles({ name, agent, schemaPath }) : typescriptFiles({ name, agent, schemaPath });
  writeApp(folder, files);
  stdout.write(farewell(name, folder, { files, agents, cwd }));
  return 0;
}

/** The folder of a new app. Throws UsageError if the name is not possible. */
function folderFor(name: string, agents: string): string {
  const fault = agentNameFault(name) ?? (name.length > maxNameLength ? `is longer than ${maxNameLength}` : undefined);
  if (fault !== undefined) throw new UsageError(`The name "${name}" ${fault}`);
  if (name === 'node_modules') throw new UsageError('An app cannot be called "node_modules"');
  if (isFolder(agents) && inspectFolder(agents, basename(agents), agents).source) {
    throw new UsageError(`"${agents}" is an app itself, not a folder of apps: name another with --agents DIR`);
  }
  const folder = join(agents, name);
  if (lstatSync(folder, { throwIfNoEntry: false })) throw new UsageError(`"${folder}" exists already`);
  return folder;
}

/** Writes all files or none. */
function writeApp(folder: string, files: NewFiles): void {
  try {
    mkdirSync(join(folder, '..'), { recursive: true });
    mkdirSync(folder);
  } catch (error) {
    throw new UsageError(`"${folder}" cannot be created: ${error instanceof Error ? error.message : String(error)}`);
  }
  try {
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text, { flag: 'wx' });
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
}

function farewell(
  name: string,
  folder: string,
  { files, agents, cwd }: { files: NewFiles; agents: string; cwd: string },
): string {
  const elsewhere = relative(cwd, agents) === 'agents' ? '' : ` --agents ${quoted(seenFrom(cwd, agents))}`;
  return [
    `Created ${seenFrom(cwd, folder)}:`,
    ...Object.keys(files).map((file) => `  ${file}`),
    '',
    `Chat with it:  npx agent-server run ${quoted(name)}${elsewhere}`,
    `Serve it:      npx agent-server${elsewhere}`,
    '',
  ].join('\n');
}

/** The path as people would type it: relative if it is below the working directory. */
function seenFrom(cwd: string, path: string): string {
  const way = relative(cwd, path);
  if (way === '') return '.';
  return way.startsWith('..') || isAbsolute(way) ? path : way;
}

const quoted = (word: string): string => (/\s/.test(word) ? `'${word}'` : word);
