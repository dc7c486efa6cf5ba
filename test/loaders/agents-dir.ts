import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach } from 'vitest';
import { agentFolders } from '../../src/loaders/agent-folders.ts';
import { DirectoryLoader, type DirectoryLoaderOptions } from '../../src/loaders/directory-loader.ts';

const made: string[] = [];
const opened: DirectoryLoader[] = [];

afterEach(async () => {
  for (const loader of opened.splice(0)) await loader.close();
  for (const folder of made.splice(0)) rmSync(folder, { recursive: true, force: true });
});

export interface AgentsDir {
  readonly path: string;
  write(this: void, name: string, text: string): void;
  remove(this: void, name: string): void;
  load(this: void, options?: Partial<DirectoryLoaderOptions>): DirectoryLoader;
}

/** A folder of apps that is gone after the test: `{ 'app/agent.ts': text }`. */
export function agentsDir(files: Readonly<Record<string, string>> = {}): AgentsDir {
  const path = realpathSync(mkdtempSync(join(tmpdir(), 'agents-')));
  made.push(path);
  const write = (name: string, text: string): void => {
    mkdirSync(dirname(join(path, name)), { recursive: true });
    writeFileSync(join(path, name), text);
  };
  for (const [name, text] of Object.entries(files)) write(name, text);
  return {
    path,
    write,
    remove: (name) => rmSync(join(path, name), { recursive: true }),
    load: (options = {}) => {
      const loader = new DirectoryLoader({ find: agentFolders(path), ...options });
      opened.push(loader);
      return loader;
    },
  };
}

/** The source of an agent that says nothing. */
export const agentSource = (name: string, more = ''): string =>
  `export const rootAgent = { name: ${JSON.stringify(name)}, async *run() {}, ${more} };\n`;

export const yamlAgent = (name: string, more = ''): string => `name: ${name}\ninstruction: Be brief.\n${more}`;

/** How loading an app fails. */
export async function failureOf(loader: DirectoryLoader, app: string): Promise<Error & { code?: string }> {
  try {
    await loader.loadAgent(app);
  } catch (error) {
    return error as Error;
  }
  throw new Error(`"${app}" could be loaded`);
}
