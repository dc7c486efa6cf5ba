import type { Config } from '../app/config.ts';
import { ownVersion } from '../app/version.ts';
import { type CommandLine, parseCommandLine } from './command-line.ts';
import { commands } from './commands.ts';
import { helpText } from './help.ts';
import { loadConfig } from './load-config.ts';
import { UsageError } from './usage-error.ts';

export interface CommandContext {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
}

/** Runs the command line and returns the exit code: 0, 1 for a failure, 2 for a usage error. */
export async function runCommand(argv: readonly string[], { env, cwd }: CommandContext): Promise<number> {
  try {
    const line = parseCommandLine(argv, commands);
    if (line.wantsHelp) {
      console.log(helpFor(line));
      return 0;
    }
    if (line.wantsVersion) {
      console.log(ownVersion());
      return 0;
    }
    return await execute(line, loadConfig({ line, env, cwd }), { env, cwd });
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    console.error(`${error.message}\nSee agent-server --help.`);
    return 2;
  }
}

/** Imports commands on demand, so that `--help` and usage errors are answered at once. */
async function execute(line: CommandLine, config: Config, { env, cwd }: CommandContext): Promise<number> {
  const [operand] = line.operands;
  if (line.command === 'run') {
    const { chat } = await import('./chat/chat.ts');
    return await chat(config, { app: operand, flags: line.own, env, cwd });
  }
  if (line.command === 'eval') {
    const { evaluateSets } = await import('./eval.ts');
    return await evaluateSets(config, { operands: line.operands, flags: line.own, env, cwd });
  }
  if (line.command === 'create') {
    const { create } = await import('./create.ts');
    return await create(config, { name: operand, flags: line.own, cwd });
  }
  if (line.command === 'validate') {
    const { validate } = await import('./validate.ts');
    return await validate(config, { dir: operand, json: line.own.has('json'), cwd });
  }
  if (line.command === 'keys') {
    const { manageKeys } = await import('./keys.ts');
    return await manageKeys(config, line);
  }
  if (['migrate', 'export', 'import', 'gc'].includes(line.command)) {
    const { runMaintenance } = await import('./maintenance.ts');
    const from = line.own.get('from');
    return await runMaintenance(config, {
      command: line.command,
      operand,
      isTrial: line.own.has('dry-run'),
      from: typeof from === 'string' ? from : undefined,
      cwd,
      env,
    });
  }
  const { serve } = await import('./serve.ts');
  return await serve(config, { env, version: ownVersion() });
}

function helpFor({ command }: CommandLine): string {
  const meant = commands.find(({ name }) => name === command);
  return meant ? helpText(meant, command === 'serve' ? commands : []) : '';
}
