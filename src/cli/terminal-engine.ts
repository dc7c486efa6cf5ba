import { basename, dirname, resolve } from 'node:path';
import type { Config } from '../app/config.ts';
import { composeEngine, type Engine } from '../app/engine.ts';
import { didYouMean } from '../base/closest.ts';
import { AppError, errorText } from '../base/errors.ts';
import { redact } from '../base/redact.ts';
import type { Log } from '../core/log.ts';
import { isFolder } from '../loaders/agent-folders.ts';
import { UsageError } from './usage-error.ts';

// Shared by the commands that run one app in the terminal.

/** Finds the app by its name, or by its folder. */
export function placeOf(
  config: Config,
  app: string | undefined,
  cwd: string,
): { config: Config; app: string | undefined } {
  const folder = app === undefined ? undefined : resolve(cwd, app);
  const isPath = app !== undefined && (/[/\\]/.test(app) || app === '.' || app === '..');
  if (folder === undefined || !isPath) {
    if (isFolder(config.agents)) return { config, app };
    throw new UsageError(`The agents folder "${config.agents}" does not exist: choose another with --agents DIR`);
  }
  if (!isFolder(folder)) throw new UsageError(`There is no folder "${app}"`);
  return { config: { ...config, agents: dirname(folder), buildOutput: [] }, app: basename(folder) };
}

/** Builds the engine. Throws UsageError for settings that contradict each other. */
export function engineFor(config: Config, env: Readonly<Record<string, string | undefined>>): Engine {
  try {
    return composeEngine(config, { env, log: plainLog, isTerminal: true });
  } catch (error) {
    if (error instanceof AppError && error.code === 'ConfigurationException') throw new UsageError(error.message);
    throw error;
  }
}

/** The only app, for a command that names none. Throws UsageError unless there is exactly one. */
export function onlyApp({ apps }: Engine): string {
  const names = apps.list().map(({ name }) => name);
  const [only] = names;
  if (names.length === 1 && only !== undefined) return only;
  if (names.length === 0) throw new UsageError(`There are no apps in "${apps.place}": create one with "create"`);
  throw new UsageError(`Name one of the apps: ${names.join(', ')}`);
}

/** Throws UsageError when there is no such app. */
export function checkApp(appName: string, { apps }: Engine): void {
  if (apps.find(appName)) return;
  const names = apps.list().map(({ name }) => name);
  throw new UsageError(`There is no app "${appName}" in "${apps.place}"${didYouMean(appName, names)}`);
}

/** Prints warnings and errors as plain text for a terminal. */
const plainLog: Log = {
  info: () => {},
  warn: (fields, message) => process.stderr.write(`warning: ${detailOf(fields) ?? message}\n`),
  error: (fields, message) => process.stderr.write(`error: ${message}${causeOf(fields)}\n`),
};

const detailOf = (fields: object): string | undefined =>
  'detail' in fields && typeof fields.detail === 'string' ? redact(fields.detail) : undefined;

const causeOf = (fields: object): string => ('err' in fields ? `: ${errorText(fields.err)}` : '');
