import { urlOf } from '../app/listen.ts';
import type { AppFinder, AppSource } from '../loaders/app-source.ts';

export interface BannerFacts {
  readonly version: string;
  readonly agents: string;
  readonly apps: AppFinder;
  readonly address: string;
  readonly port: number;
  /** Whether any development routes are served. */
  readonly isForDevelopment: boolean;
}

const maxShown = 40;
const languages: Readonly<Record<AppSource['language'], string>> = {
  typescript: 'TypeScript',
  javascript: 'JavaScript',
  yaml: 'YAML',
};

/** The text on the terminal when the server is ready: its address, and the apps it found. */
export function banner({ version, agents, apps, address, port, isForDevelopment }: BannerFacts): string {
  const url = urlOf(address, port);
  const found = apps.list();
  const width = Math.max(0, ...found.slice(0, maxShown).map(({ name }) => name.length));
  const rows = found
    .slice(0, maxShown)
    .map(({ name, language }) => `    ${name.padEnd(width)}  ${languages[language]}`);
  if (found.length > maxShown) rows.push(`    and ${found.length - maxShown} more`);
  if (found.length === 0) rows.push('    none yet: an app is a folder with agent.ts, agent.js or root_agent.yaml');
  return [
    `agent-server ${version} is ready`,
    '',
    `  Web UI  ${url}/dev-ui/`,
    `  API     ${url} (described at ${url}/docs)`,
    ...(isForDevelopment ? [] : ['          without the routes for development: --surface dev turns them on']),
    '',
    `  Apps in ${agents}`,
    ...rows,
    ...apps.hints().map((hint) => `    not an app: ${hint}`),
    '',
    '',
  ].join('\n');
}
