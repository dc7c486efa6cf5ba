import { resolve } from 'node:path';
import { faultsBelow } from '../agents/llm-plan.ts';
import { provideAgentImports } from '../app/agent-imports.ts';
import type { Config } from '../app/config.ts';
import { appFinder } from '../app/engine.ts';
import { errorText } from '../base/errors.ts';
import { redact } from '../base/redact.ts';
import type { ModelRegistry } from '../core/model.ts';
import { isFolder } from '../loaders/agent-folders.ts';
import { DirectoryLoader } from '../loaders/directory-loader.ts';
import { createModelRegistry } from '../models/registry.ts';
import { UsageError } from './usage-error.ts';

export interface ValidateOptions {
  /** Another folder than the config's. */
  readonly dir: string | undefined;
  readonly json: boolean;
  readonly cwd: string;
}

/** One fault or warning. */
export interface Finding {
  /** Relative to the agents folder; absent when no single file is at fault. */
  readonly file?: string;
  readonly line?: number;
  readonly column?: number;
  readonly message: string;
}

interface AppReport {
  readonly name: string;
  readonly ok: boolean;
  readonly faults: readonly Finding[];
  readonly warnings: readonly Finding[];
}

/** Loads every app and prints its errors and warnings. Resolves with 1 for any error, and if there is no app. */
export async function validate(config: Config, { dir, json, cwd }: ValidateOptions): Promise<number> {
  const agents = dir === undefined ? config.agents : resolve(cwd, dir);
  if (!isFolder(agents)) throw new UsageError(`There is no folder "${agents}"`);
  provideAgentImports();
  const finder = appFinder({ ...config, agents });
  const loaderWarnings: string[] = [];
  const loader = new DirectoryLoader({
    find: finder,
    hotReload: false,
    strict: config.strictYaml,
    allowStdioMcp: config.allowConfigStdioMcpServers,
    warn: (text) => loaderWarnings.push(text),
  });
  const apps: AppReport[] = [];
  const models = createModelRegistry({ env: process.env });
  for (const { name } of finder.list()) apps.push(await report(name, { loader, models, loaderWarnings }));
  const hints = finder.hints();
  const ok = apps.length > 0 && apps.every((app) => app.ok);
  process.stdout.write(json ? `${JSON.stringify({ ok, agents, apps, hints })}\n` : reportText(agents, apps, hints));
  return ok ? 0 : 1;
}

interface CheckContext {
  readonly loader: DirectoryLoader;
  readonly models: ModelRegistry;
  /** Warnings of the loader. */
  readonly loaderWarnings: string[];
}

/** Loads and checks one app. Does not close it: the process ends soon. */
async function report(name: string, { loader, models, loaderWarnings }: CheckContext): Promise<AppReport> {
  const faults: Finding[] = [];
  loaderWarnings.length = 0;
  try {
    const found = await faultsBelow((await loader.loadAgent(name)).rootAgent, models);
    faults.push(...found.flatMap(findingsIn));
  } catch (error) {
    faults.push(...inFileOrder(findingsIn(errorText(error))));
  }
  // The loader also warns of the faults for which it refuses an app.
  const warnings = loaderWarnings.map((text) => redact(text)).flatMap(findingsIn);
  const isFault = (found: Finding): boolean => faults.some((fault) => fault.message === found.message);
  return { name, ok: faults.length === 0, faults, warnings: inFileOrder(warnings.filter((found) => !isFault(found))) };
}

function inFileOrder(findings: readonly Finding[]): Finding[] {
  return findings.toSorted((a, b) => {
    const files = (a.file ?? '').localeCompare(b.file ?? '');
    return files || (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0);
  });
}

/** Splits a message into findings: one for each line that names a file; other lines belong to the one above. */
export function findingsIn(text: string): Finding[] {
  const findings: { file?: string; line?: number; column?: number; message: string }[] = [];
  for (const line of text.split('\n')) {
    const place = /^([^\s:][^:]*\.[a-z]{2,4})(?::(\d+))?(?::(\d+))?: (.*)$/.exec(line);
    const last = findings.at(-1);
    if (place) {
      const [, file = '', row, column, message = ''] = place;
      findings.push({
        file,
        ...(row !== undefined && { line: Number(row) }),
        ...(column !== undefined && { column: Number(column) }),
        message,
      });
    } else if (last) {
      last.message += `\n${line}`;
    } else {
      findings.push({ message: line });
    }
  }
  return findings;
}

function reportText(agents: string, apps: readonly AppReport[], hints: readonly string[]): string {
  const count = (number: number, word: string): string => `${number} ${word}${number === 1 ? '' : 's'}`;
  const lines = apps.flatMap(({ name, ok, faults, warnings }) => [
    `${ok ? 'ok   ' : 'FAULT'}  ${name}`,
    ...faults.map((found) => `  ${shown(found)}`),
    ...warnings.map((found) => `  warning: ${shown(found)}`),
  ]);
  const broken = apps.filter(({ ok }) => !ok).length;
  const warned = apps.reduce((sum, { warnings }) => sum + warnings.length, 0);
  const outcome = apps.length === 0 ? `There are no apps in ${agents}` : count(apps.length, 'app');
  const verdict = apps.length === 0 ? '' : `, ${broken} with faults, ${count(warned, 'warning')}`;
  return [...lines, ...hints.map((hint) => `not an app: ${hint}`), `${outcome}${verdict}`, ''].join('\n');
}

function shown({ file, line, column, message }: Finding): string {
  const place = [file, line, column].filter((part) => part !== undefined).join(':');
  return (place === '' ? message : `${place}: ${message}`).replaceAll('\n', '\n    ');
}
