import { readFileSync } from 'node:fs';
import { parseCommandLine } from './command-line.ts';
import { helpText } from './help.ts';
import { loadConfig } from './load-config.ts';
import { UsageError } from './usage-error.ts';

export interface Surroundings {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
}

const commands = ['serve'];

/** Does what the command line says and gives the exit code: 0, 1 for a failure, 2 for a mistake of the caller. */
export async function runCommand(argv: readonly string[], { env, cwd }: Surroundings): Promise<number> {
  try {
    const line = parseCommandLine(argv, commands);
    if (line.wantsHelp) {
      console.log(helpText());
      return 0;
    }
    if (line.wantsVersion) {
      console.log(ownVersion());
      return 0;
    }
    const [surplus] = line.operands;
    if (surplus !== undefined) throw new UsageError(`Unexpected argument "${surplus}"`);
    const config = loadConfig({ line, env, cwd });
    // Loaded late: the flags above answer at once, and a typing mistake costs no wait.
    const { serve } = await import('./serve.ts');
    return await serve(config, { env, version: ownVersion() });
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    console.error(`${error.message}\nSee agent-server --help.`);
    return 2;
  }
}

function ownVersion(): string {
  const text = readFileSync(new URL('../package.json', import.meta.url), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}
