import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { Config } from '../../src/app/config.ts';
import { settings } from '../../src/app/settings.ts';
import { commands } from '../../src/cli/commands.ts';
import { configTable, helpText } from '../../src/cli/help.ts';

it('gives every setting names of its own and a description', () => {
  for (const name of ['key', 'flag', 'env'] as const) {
    expect(new Set(settings.map((setting) => setting[name])).size).toBe(settings.length);
  }
  expect(settings.filter(({ description }) => description === '')).toEqual([]);
});

it('keeps the short names of the environment', () => {
  const env = Object.fromEntries(settings.map((setting) => [setting.key, setting.env]));
  expect(env).toMatchObject({
    port: 'PORT',
    host: 'HOST',
    agents: 'AGENTS_DIR',
    'cors.maxAge': 'AGENT_SERVER_CORS_MAX_AGE',
  });
});

it('has the six cross-origin components', () => {
  expect(Object.keys(Config.parse({}).cors)).toEqual([
    'mapping',
    'origins',
    'methods',
    'headers',
    'allowCredentials',
    'maxAge',
  ]);
});

it('shows every flag in the help of serve', () => {
  const [serve] = commands;
  for (const { flag } of settings) expect(helpText(serve!, commands)).toMatch(new RegExp(`--(?:no-)?${flag}\\b`));
});

it.each(commands)('keeps the help of $name within 110 columns, with all its flags', (command) => {
  const help = helpText(command, commands);

  for (const { flag } of command.flags) expect(help).toContain(`  --${flag}`);
  for (const key of command.settings ?? []) expect(settings.map((setting) => setting.key)).toContain(key);
  expect(help.split('\n').filter((line) => line.length > 110)).toEqual([]);
});

it('has the same table in the documentation', () => {
  expect(readFileSync('docs/configuration.md', 'utf8')).toContain(configTable());
});
