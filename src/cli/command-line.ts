import { parseArgs, type ParseArgsConfig } from 'node:util';
import { type Setting, settings } from '../app/settings.ts';
import { didYouMean } from '../base/closest.ts';
import type { Command, CommandFlag } from './commands.ts';
import { UsageError } from './usage-error.ts';

/** The parsed command line. */
export interface CommandLine {
  readonly command: string;
  /** The positional arguments after the command. */
  readonly operands: readonly string[];
  readonly wantsHelp: boolean;
  readonly wantsVersion: boolean;
  /** `--config`. */
  readonly configFile: string | undefined;
  /** Settings given as flags; lists as often as they were given. */
  readonly given: ReadonlyMap<Setting, unknown>;
  /** The command's own flags: texts, and `true` for switches. */
  readonly own: ReadonlyMap<string, string | true>;
}

type CommandFlags = Pick<Command, 'name' | 'flags' | 'maxOperands'>;

const switchWords = /^(?:on|off|true|false|yes|no)$/i;
const shorts: Readonly<Record<string, string>> = { '-p': '--port', '-h': '--help', '-v': '--version' };

/** Throws UsageError for a command or flag that does not exist, and for a flag that lacks its value. */
export function parseCommandLine(argv: readonly string[], commands: readonly CommandFlags[]): CommandLine {
  const byFlag = new Map(settings.map((setting) => [setting.flag, setting]));
  // Two commands may have different flags of the same name: the named command's flag counts, else the first.
  const first = argv.find((word) => commands.some(({ name }) => name === word));
  const likely = commands.find(({ name }) => name === first);
  const others = commands.filter((command) => command !== likely).toReversed();
  const ordered = [...others, ...(likely ? [likely] : [])];
  const ownFlags = new Map(ordered.flatMap(({ flags }) => flags.map((own) => [own.flag, own])));
  const { tokens } = parseArgs({
    args: spellOut(argv, byFlag),
    options: { ...optionsOf(byFlag), ...ownOptionsOf(ownFlags) },
    strict: false,
    allowPositionals: true,
    tokens: true,
  });

  const given = new Map<Setting, unknown>();
  const words: string[] = [];
  const plain = new Map<string, string | true>();
  const own = new Map<string, string | true>();
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
    else if (ownFlags.has(name) && !ownFlags.get(name)?.value) own.set(name, true);
    else if (!setting && name !== 'config' && !ownFlags.has(name)) throw unknownFlag(rawName, byFlag, ownFlags);
    else if (lacksValue) throw new UsageError(`${rawName} needs a value`);
    else if (!setting) (ownFlags.has(name) ? own : plain).set(name, value);
    else given.set(setting, setting.kind === 'list' ? [given.get(setting) ?? [], value].flat() : value);
  }

  const [command = 'serve', ...operands] = words;
  const meant = commands.find(({ name }) => name === command);
  if (!meant) {
    const names = commands.map(({ name }) => name);
    const hint = didYouMean(command, names) || `: the commands are ${names.join(', ')}`;
    throw new UsageError(`Unknown command "${command}"${hint}`);
  }
  for (const flag of own.keys()) {
    if (meant.flags.some((known) => known.flag === flag)) continue;
    const owner = commands.find(({ flags }) => flags.some((known) => known.flag === flag));
    throw new UsageError(`--${flag} belongs to "${owner?.name ?? ''}", not to "${command}"`);
  }
  const surplus = operands[meant.maxOperands];
  if (surplus !== undefined) throw new UsageError(`Unexpected argument "${surplus}"`);
  const config = plain.get('config');
  return {
    command,
    operands,
    wantsHelp: plain.has('help'),
    wantsVersion: plain.has('version'),
    configFile: typeof config === 'string' ? config : undefined,
    given,
    own,
  };
}

/** Expands short flags, and turns `--hot-reload off` into `--hot-reload=off`, which parseArgs reads as one flag. */
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

function ownOptionsOf(ownFlags: ReadonlyMap<string, CommandFlag>): NonNullable<ParseArgsConfig['options']> {
  const kinds = Array.from(ownFlags.values(), ({ flag, value }) => [flag, { type: value ? 'string' : 'boolean' }]);
  return Object.fromEntries(kinds) as NonNullable<ParseArgsConfig['options']>;
}

function unknownFlag(
  rawName: string,
  byFlag: ReadonlyMap<string, Setting>,
  ownFlags: ReadonlyMap<string, CommandFlag>,
): UsageError {
  const names = [...byFlag.keys(), ...ownFlags.keys(), 'config', 'help', 'version'];
  const flags = names.map((flag) => `--${flag}`);
  return new UsageError(`Unknown flag ${rawName}${didYouMean(rawName, flags)}`);
}
