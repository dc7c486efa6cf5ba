import { readFileSync } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import type { z } from 'zod';
import { databaseKeys } from '../app/auth-config.ts';
import { Config } from '../app/config.ts';
import { type Setting, settings } from '../app/settings.ts';
import { didYouMean } from '../base/closest.ts';
import { AppError } from '../base/errors.ts';
import { isJsonObject } from '../base/json.ts';
import { redact } from '../base/redact.ts';
import { readYaml, type YamlFile } from '../loaders/yaml/document.ts';
import { placeUri } from '../services/service-uri.ts';
import type { CommandLine } from './command-line.ts';
import { UsageError } from './usage-error.ts';

export interface ConfigSources {
  readonly line: Pick<CommandLine, 'given' | 'configFile'>;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
}

const fileName = 'agent-server.yaml';

/** A configured value, and how to report an error in it. */
interface Given {
  readonly raw: unknown;
  /** The folder relative paths start from. */
  readonly folder: string;
  complain(problem: string): string;
}

/** The settings: flags override the environment, then agent-server.yaml, then defaults. Throws UsageError with all errors. */
export function loadConfig({ line, env, cwd }: ConfigSources): Config {
  const fromFile = readFile(line.configFile ?? blank(env['AGENT_SERVER_CONFIG']), cwd);
  const problems: string[] = [];
  const values: Record<string, unknown> = {};
  for (const setting of settings) {
    const given = fromFlag(setting, line.given, cwd) ?? fromEnv(setting, env, cwd) ?? fromFile.get(setting);
    if (!given) continue;
    const result = setting.schema.safeParse(given.raw);
    // The raw value is parsed again with the rest: a time in milliseconds must not be taken for seconds.
    if (result.success) put(values, setting.path, valueOf(setting, result.data, given));
    else problems.push(given.complain(faultIn(result.error)));
  }
  if (problems.length > 0) throw new UsageError(problems.join('\n'));
  const config = Config.parse(values);
  return {
    ...config,
    agents: resolve(cwd, config.agents),
    ...(config.cassettes !== undefined && { cassettes: resolve(cwd, config.cassettes) }),
  };
}

/** The first fault, with its place if the value has places with names. */
function faultIn({ issues: [issue] }: z.ZodError): string {
  const { path = [], message = 'is wrong' } = issue ?? {};
  return path.some((part) => typeof part === 'string') ? `has a fault: "${path.join('.')}" ${message}` : message;
}

function fromFlag({ flag }: Setting, given: CommandLine['given'], folder: string): Given | undefined {
  for (const [setting, raw] of given) {
    if (setting.flag === flag) return { raw, folder, complain: (problem) => `--${flag} ${problem}${quoted(raw)}` };
  }
  return undefined;
}

function fromEnv({ env: name }: Setting, env: ConfigSources['env'], folder: string): Given | undefined {
  const raw = blank(env[name]);
  return raw === undefined ? undefined : { raw, folder, complain: (problem) => `${name} ${problem}${quoted(raw)}` };
}

const blank = (value: string | undefined): string | undefined => (value?.trim() === '' ? undefined : value);
const quoted = (raw: unknown): string => `, not ${redact(JSON.stringify(raw))}`;

function readFile(named: string | undefined, cwd: string): ReadonlyMap<Setting, Given> {
  const path = resolve(cwd, named ?? fileName);
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if (named === undefined && error instanceof Error && 'code' in error && error.code === 'ENOENT') return new Map();
    throw new UsageError(`The configuration file "${named ?? fileName}" cannot be read`, { cause: error });
  }
  try {
    const file = readYaml(text, basename(path));
    const found = new Map<Setting, Given>();
    if (file.value === null) return found;
    collect(file, file.value, { path: [], folder: dirname(path), found });
    return found;
  } catch (error) {
    if (error instanceof AppError) throw new UsageError(error.message, { cause: error });
    throw error;
  }
}

interface Collecting {
  readonly path: readonly string[];
  readonly folder: string;
  readonly found: Map<Setting, Given>;
}

/** Notes the settings of a mapping. Keys may be written in camelCase, snake_case or kebab-case, each in one of them. */
function collect(file: YamlFile, value: unknown, { path, folder, found }: Collecting): void {
  if (!isJsonObject(value)) throw file.fail(path, 'must be a mapping of settings to values');
  for (const [key, raw] of Object.entries(value)) {
    const here = [...path, key];
    const wanted = plain(here.join('.'));
    const setting = settings.find((candidate) => plain(candidate.key) === wanted);
    if (setting) {
      if (raw === null) continue;
      if (found.has(setting)) throw file.fail(here, `"${setting.key}" is set twice`);
      found.set(setting, { raw, folder, complain: (problem) => file.say(here, problem) });
    } else if (settings.some((candidate) => plain(candidate.key).startsWith(`${wanted}.`))) {
      if (raw !== null) collect(file, raw, { path: here, folder, found });
    } else {
      const known = settings.map((candidate) => candidate.key);
      throw file.fail(here, `unknown setting "${here.join('.')}"${didYouMean(here.join('.'), known)}`);
    }
  }
}

const plain = (key: string): string => key.toLowerCase().replaceAll(/[-_]/g, '');

function valueOf(setting: Setting, parsed: unknown, { raw, folder }: Given): unknown {
  if (isPath(setting)) return parsed === databaseKeys && setting.key === 'auth.keys' ? parsed : placed(parsed, folder);
  return setting.key.endsWith('Service') ? placeUri(String(parsed), folder) : raw;
}

const isPath = ({ value }: Setting): boolean => value === 'DIR' || value === 'FILE';

/** Resolves a path against the folder of its source: the working directory, or that of the configuration file. */
function placed(parsed: unknown, folder: string): unknown {
  return Array.isArray(parsed) ? parsed.map((dir) => resolve(folder, String(dir))) : resolve(folder, String(parsed));
}

function put(target: Record<string, unknown>, [first = '', ...rest]: readonly string[], value: unknown): void {
  if (rest.length === 0) {
    target[first] = value;
    return;
  }
  const inner = isJsonObject(target[first]) ? target[first] : {};
  target[first] = inner;
  put(inner, rest, value);
}
