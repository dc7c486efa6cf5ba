import { expect, it } from 'vitest';
import { parseCommandLine } from '../../src/cli/command-line.ts';

const commands = [
  { name: 'serve', flags: [], maxOperands: 0 },
  { name: 'run', flags: [{ flag: 'message', value: 'TEXT', description: '' }], maxOperands: 1 },
  { name: 'validate', flags: [{ flag: 'json', description: '' }], maxOperands: 2 },
  { name: 'create', flags: [{ flag: 'yaml', description: '' }], maxOperands: 2 },
  { name: 'keys', flags: [{ flag: 'yaml', value: 'FILE', description: '' }], maxOperands: 2 },
];
const parse = (...argv: string[]) => parseCommandLine(argv, commands);
const given = (...argv: string[]): Record<string, unknown> =>
  Object.fromEntries(Array.from(parse(...argv).given, ([setting, value]) => [setting.key, value]));

it('serves when no command is named', () => {
  expect(parse('--port', '1').command).toBe('serve');
  expect(parse('validate', 'here', 'there')).toMatchObject({ command: 'validate', operands: ['here', 'there'] });
});

it('takes the first word that is a command for the command, flags included', () => {
  expect(parse('keys', 'create', '--yaml', 'x').own.get('yaml')).toBe('x');
  expect(parse('create', 'keys', '--yaml', 'x')).toMatchObject({ operands: ['keys', 'x'] });
});

it('takes values behind a blank or an equals sign', () => {
  expect(given('--port', '81', '--agents=my agents')).toEqual({ port: '81', agents: 'my agents' });
  expect(given('-p', '82')).toEqual({ port: '82' });
});

it('takes switches as they are, turned off, and with a word', () => {
  expect(given('--insecure')).toEqual({ insecure: true });
  expect(given('--no-hot-reload')).toEqual({ hotReload: false });
  expect(given('--hot-reload', 'off', '--insecure=on')).toEqual({ hotReload: 'off', insecure: 'on' });
});

it('does not take the word after a switch for its value when it is none', () => {
  expect(parse('--insecure', 'validate').command).toBe('validate');
});

it('collects flags that may be repeated and lets the last of others win', () => {
  expect(given('--allow-origin', 'https://a.example', '--allow-origin=https://b.example')).toEqual({
    allowOrigins: ['https://a.example', 'https://b.example'],
  });
  expect(given('--port', '1', '--port', '2')).toEqual({ port: '2' });
});

it.each([
  [['--prot', '1'], 'Unknown flag --prot (did you mean "--port"?)'],
  [['--zebra'], 'Unknown flag --zebra'],
  [['-x'], 'Unknown flag -x'],
  [['--no-port'], 'Unknown flag --no-port (did you mean "--port"?)'],
  [['--port'], '--port needs a value'],
  [['--port', '--insecure'], '--port needs a value'],
  [['serv'], 'Unknown command "serv" (did you mean "serve"?)'],
])('refuses %j', (argv, message) => {
  expect(() => parse(...argv)).toThrow(message);
});

it('knows the flags that are no settings', () => {
  expect(parse('-h').wantsHelp).toBe(true);
  expect(parse('--version').wantsVersion).toBe(true);
  expect(parse('--config', 'x.yaml').configFile).toBe('x.yaml');
});
