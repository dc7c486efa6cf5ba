import { type Setting, settings } from './settings.ts';

const left = 34;
const width = 100;

/** The text of `--help`, made from the list of settings. */
export function helpText(): string {
  const rows = settings.map((setting) => row(`  ${flagOf(setting)}`, `${setting.description}${usual(setting)}`));
  return [
    'Usage: agent-server [serve] [flags]',
    '',
    'Serves the agents of a folder over HTTP, server-sent events and a WebSocket.',
    '',
    'Flags:',
    ...rows,
    row('  --config FILE', 'Settings file (default: agent-server.yaml, when there is one)'),
    row('  -h, --help', 'Show this text'),
    row('  -v, --version', 'Show the version'),
    '',
    'Every flag is also an environment variable (AGENT_SERVER_LOG_LEVEL and the like; PORT, HOST, AGENTS_DIR and',
    'LOG_LEVEL as they stand) and a key of agent-server.yaml. Flags come before the environment, then the file.',
    '',
  ].join('\n');
}

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
