import { parseArgs, type ParseArgsConfig } from 'node:util';
import { didYouMean } from './base/closest.ts';
import { type Setting, settings } from './settings.ts';
import { UsageError } from './usage-error.ts';

/** What was typed behind the program's name. */
export interface CommandLine {
  readonly command: string;
  /** What stands behind the command. */
  readonly operands: readonly string[];
  readonly wantsHelp: boolean;
  readonly wantsVersion: boolean;
  /** `--config`. */
  readonly configFile: string | undefined;
  /** Settings given as flags; lists as often as they were given. */
  readonly given: ReadonlyMap<Setting, unknown>;
}

const switchWords = /^(?:on|off|true|false|yes|no)$/i;
const shorts: Readonly<Record<string, string>> = { '-p': '--port', '-h': '--help', '-v': '--version' };

/** Throws UsageError for a flag that does not exist or lacks its value. */
export function parseCommandLine(argv: readonly string[], commands: readonly string[]): CommandLine {
  const byFlag = new Map(settings.map((setting) => [setting.flag, setting]));
  const { tokens } = parseArgs({
    args: spellOut(argv, byFlag),
    options: optionsOf(byFlag),
    strict: false,
    allowPositionals: true,
    tokens: true,
  });

  const given = new Map<Setting, unknown>();
  const words: string[] = [];
  const plain = new Map<string, string | true>();
  for (const token of tokens) {
    if (token.kind === 'positional') words.push(token.value);
    if (token.kind !== 'option') continue;
    const { name, rawName, value, inlineValue } = token;
    const takesNext = value !== undefined && !inlineValue;
    const lacksValue = value === undefined || (takesNext && value.startsWith('-'));
    const setting = byFlag.get(name);
    const denied = name.startsWith('no-') ? byFlag.get(name.slice(3)) : undefined;
    if (denied?.kind === 'switch') given.set(denied, false);
    else if (setting?.kind === 'switch') given.set(setting, value ?? true);
    else if (name === 'help' || name === 'version') plain.set(name, true);
    else if (!setting && name !== 'config') throw unknownFlag(rawName, byFlag);
    else if (lacksValue) throw new UsageError(`${rawName} needs a value`);
    else if (!setting) plain.set(name, value);
    else given.set(setting, setting.kind === 'list' ? [given.get(setting) ?? [], value].flat() : value);
  }

  const [command = 'serve', ...operands] = words;
  if (!commands.includes(command)) throw new UsageError(`Unknown command "${command}"${didYouMean(command, commands)}`);
  const config = plain.get('config');
  return {
    command,
    operands,
    wantsHelp: plain.has('help'),
    wantsVersion: plain.has('version'),
    configFile: typeof config === 'string' ? config : undefined,
    given,
  };
}

/** Long spellings of short flags; `--hot-reload off` becomes `--hot-reload=off`, which parseArgs takes for one flag. */
function spellOut(argv: readonly string[], byFlag: ReadonlyMap<string, Setting>): string[] {
  const words: string[] = [];
  for (const word of argv) {
    const before = words.at(-1);
    const isValue =
      before?.startsWith('--') && byFlag.get(before.slice(2))?.kind === 'switch' && switchWords.test(word);
    if (isValue) words.splice(-1, 1, `${before}=${word}`);
    else words.push(shorts[word] ?? word);
  }
  return words;
}

function optionsOf(byFlag: ReadonlyMap<string, Setting>): NonNullable<ParseArgsConfig['options']> {
  const kinds = Array.from(byFlag.values(), ({ flag, kind }) => [
    flag,
    { type: kind === 'switch' ? 'boolean' : 'string' },
  ]);
  return { ...Object.fromEntries(kinds), config: { type: 'string' } } as NonNullable<ParseArgsConfig['options']>;
}

function unknownFlag(rawName: string, byFlag: ReadonlyMap<string, Setting>): UsageError {
  const flags = [...byFlag.keys(), 'config', 'help', 'version'].map((flag) => `--${flag}`);
  return new UsageError(`Unknown flag ${rawName}${didYouMean(rawName, flags)}`);
}
