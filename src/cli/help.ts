import { type Setting, settings } from '../app/settings.ts';
import type { Command } from './commands.ts';

const left = 34;
const width = 100;

/** The `--help` text of a command, made from the list of settings. */
export function helpText(command: Command, others: readonly Command[] = []): string {
  const { flags, settings: shown } = command;
  const own = flags.map(({ flag, value, description }) =>
    row(`  --${flag}${value === undefined ? '' : ` ${value}`}`, description),
  );
  const rows = settings
    .filter(({ key }) => shown?.includes(key) ?? true)
    .map((setting) => row(`  ${flagOf(setting)}`, `${setting.description}${usual(setting)}`));
  return [
    `Usage: agent-server ${command.usage}`,
    '',
    command.summary,
    '',
    ...(others.length > 0 ? ['Commands:', ...others.map(commandRow), ''] : []),
    'Flags:',
    ...own,
    ...rows,
    row('  --config FILE', 'Settings file (default: agent-server.yaml, when there is one)'),
    row('  -h, --help', 'Show this text'),
    row('  -v, --version', 'Show the version'),
    '',
    ...(shown === undefined ? sources : ['All settings of "serve" work here too: see agent-server --help.', '']),
  ].join('\n');
}

const sources = [
  'Every flag is also an environment variable (such as AGENT_SERVER_ON_BUSY; only PORT, HOST, AGENTS_DIR and',
  'LOG_LEVEL have no prefix) and a key of agent-server.yaml. Precedence: flags, environment, file, defaults.',
  '',
];

const commandRow = ({ usage, summary }: Command): string =>
  row(`  ${usage.replace(' [flags]', '').replace(/^\[serve\]$/, 'serve')}`, summary);

/** The settings as a Markdown table, for docs/configuration.md. */
export function configTable(): string {
  const rows = settings.map(({ flag, env, key, kind, value, shown, description }) => {
    const usage = kind === 'switch' ? `--${flag}` : `--${flag} ${value}`;
    return `| \`${usage}\` | \`${env}\` | \`${key}\` | ${shown === '' ? '' : `\`${shown}\``} | ${description} |`;
  });
  return ['| Flag | Environment | agent-server.yaml | Default | Meaning |', '|---|---|---|---|---|', ...rows].join(
    '\n',
  );
}

function flagOf({ flag, kind, value, shown }: Setting): string {
  if (kind === 'switch') return shown === 'on' ? `--no-${flag}` : `--${flag}`;
  return flag === 'port' ? `-p, --${flag} ${value}` : `--${flag} ${value}`;
}

function usual({ shown, kind }: Setting): string {
  if (kind === 'switch') return shown === 'on' ? ' (default: on; this turns it off)' : '';
  return shown === '' ? '' : ` (default: ${shown})`;
}

function row(flag: string, text: string): string {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && left + line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else {
      line = line === '' ? word : `${line} ${word}`;
    }
  }
  const indent = ' '.repeat(left);
  const head = flag.length < left - 1 ? flag.padEnd(left) : `${flag}\n${indent}`;
  return head + [...lines, line].join(`\n${indent}`);
}
