import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { folderOf, mainFile, run, start } from '../support/program.ts';

const asking = `import { functionTool, getUserChoice, llmAgent, requestInput } from 'agent-server';
import { z } from 'zod';
const pay = functionTool({
  name: 'pay', description: 'Pays.', parameters: z.object({ amount: z.coerce.number() }), requireConfirmation: true,
  run: ({ amount }) => ({ report: 'paid ' + amount }),
});
export const rootAgent = llmAgent({
  name: 'till', model: 'scripted', instruction: 'x', tools: [pay, getUserChoice, requestInput],
  script: [
    { match: 'pay (\\\\d+)', calls: [{ name: 'pay', args: { amount: '$1' } }] },
    { match: 'choose', calls: [{ name: 'get_user_choice', args: { options: ['red', 'blue'] } }] },
    { match: 'input', calls: [{ name: 'adk_request_input', args: { message: 'How old?' } }] },
    { after: 'pay', text: 'Done: \${pay.report}.' },
    { after: 'get_user_choice', text: 'You like \${get_user_choice.result}.' },
    { after: 'adk_request_input', text: 'So \${adk_request_input.result}.' },
    { match: 'boom', error: { code: 'RESOURCE_EXHAUSTED', message: 'quota' } },
    { match: 'escape', text: '\\u001b]0;owned\\u0007\\u001b[2Jline\\r\\nnext\\tend\\u009b1m' },
    { match: 'think', thought: 'hm', chunks: ['Hel', 'lo'] },
    { match: 'slow', chunks: ['one ', 'two'], delayMs: 60000 },
    { match: 'begin', chunks: ['begun, ', 'ended'], delayMs: 400 },
    { text: 'Hi.' },
  ],
});
`;
const till = (): string => folderOf({ 'till/agent.ts': asking });

it('talks with what comes through a pipe, and leaves at its end', async () => {
  const { code, out, err } = await run(['run', 'till', '--agents', till()], { input: 'hello\n\nthink\n' });

  expect(out).toBe('till> Hi.\ntill (thinking)> hm\ntill> Hello\n');
  expect(err).toBe('');
  expect(code).toBe(0);
});

it('takes the only app, and the folder of an app, without its name', async () => {
  const agents = till();

  expect(await run(['run', '--agents', agents, '--message', 'hello'])).toMatchObject({ out: 'till> Hi.\n', code: 0 });
  expect(await run(['run', './till', '--message=hello'], { cwd: agents })).toMatchObject({ out: 'till> Hi.\n' });
});

it('shows calls and results in a line each, and asks for confirmations', async () => {
  const { code, out } = await run(['run', 'till', '--agents', till()], { input: 'pay 5\nyes\npay 6\nno\n' });

  expect(out).toContain('   -> pay {"amount":5}\n');
  expect(out).toContain('? pay: The agent wants to call "pay". Do you agree?\n   <- pay {"report":"paid 5"}\n');
  expect(out).toContain('till> Done: paid 5.\n');
  expect(out).toContain('   <- pay {"error":"The user has rejected');
  expect(code).toBe(0);
});

it('says once what an agent threw, and where', async () => {
  const source = `export const rootAgent = {\n  name: 'shop',\n  async *run() { throw new TypeError('no stock'); },\n};\n`;
  const agents = folderOf({ 'shop/agent.ts': source });

  expect(await run(['run', 'shop', '--agents', agents, '--message', 'hello'])).toMatchObject({
    out: '! internal: TypeError: no stock (at shop/agent.ts:3)\n',
    err: '',
    code: 1,
  });
});

it('asks for input and for choices', async () => {
  const { out } = await run(['run', 'till', '--agents', till()], { input: 'input\n42\nchoose\n2\n' });

  expect(out).toContain('? How old?\ntill> So 42.\n');
  expect(out).toContain('? Choose:\n  1  red\n  2  blue\ntill> You like blue.\n');
});

it('ends with code 1 when a question stays unanswered or an answer is a failure', async () => {
  const agents = till();

  const [unanswered, failed] = await Promise.all([
    run(['run', 'till', '--agents', agents, '--message', 'pay 1']),
    run(['run', 'till', '--agents', agents, '--message', 'boom']),
  ]);

  expect(unanswered).toMatchObject({
    code: 1,
    out: expect.stringContaining('! The input ended before the question') as string,
  });
  expect(failed).toMatchObject({ code: 1, out: '! RESOURCE_EXHAUSTED: quota\n' });
});

it('keeps what a model says from steering the terminal', async () => {
  const { out } = await run(['run', 'till', '--agents', till(), '--message', 'escape']);

  expect(out).toBe('till> ]0;owned[2Jline\nnext\tend1m\n');
});

it('cancels the answer at an interrupt and ends, when nobody is there to go on', async () => {
  const program = start(['run', 'till', '--agents', till()]);
  program.type('hello\nbegin\nslow\n');
  await program.says('begun');
  program.signal('SIGINT');

  const { code, out } = await program.ended;

  expect(out).toContain('(cancelled)\n');
  expect(out).not.toContain('ended');
  expect(code).toBe(130);
});

it('says what is wrong with an app, and ends with code 1', async () => {
  const { code, err } = await run(['run', 'bad', '--agents', folderOf({ 'bad/root_agent.yaml': 'name: bad\n' })]);

  expect(err).toContain('bad/root_agent.yaml:1:1: "instruction" is missing');
  expect(code).toBe(1);
});

it.each([
  [['run', 'tilt'], 'There is no app "tilt" in'],
  [['run', 'tilt'], '(did you mean "till"?)'],
  [['run', './nowhere'], 'There is no folder "./nowhere"'],
  [['run', 'till', '--session', 'a/b'], '--session holds a slash'],
  [['run', 'till', '--replay', 'nowhere'], 'There is no folder "nowhere"'],
  [['run', 'till', 'surplus'], 'Unexpected argument "surplus"'],
  [['run', 'till', '--json'], '--json belongs to "validate", not to "run"'],
  [['run', 'till', '--message'], '--message needs a value'],
])('ends with code 2 for %j: %s', async (args, message) => {
  const { code, err } = await run([...args, '--agents', till()]);

  expect(err).toContain(message);
  expect(code).toBe(2);
});

it('plays a recorded conversation, its user included', async () => {
  const cases = join(import.meta.dirname, '../acceptance/conformance');

  const { code, out } = await run([
    'run',
    'toolbox',
    `--agents=${join(cases, 'agents')}`,
    `--replay=${join(cases, 'cases/long_running')}`,
  ]);

  expect(out).toContain('you> Start the job.\n');
  expect(out).toContain('   -> start_job ');
  expect(out).toMatch(/toolbox> \S/);
  expect(out).not.toContain('!');
  expect(code).toBe(0);
});

const scriptCommand = '/usr/bin/script';
const hasTerminal = process.platform === 'linux' && existsSync(scriptCommand);
if (!hasTerminal) console.warn(`The terminal is not tried: ${scriptCommand} (util-linux) is missing`);

it.skipIf(!hasTerminal)('prompts at a terminal; the first Ctrl-C cancels the answer, the next one leaves', async () => {
  // `exec`: a shell in between would take the interrupts for its own.
  const line = `exec "${process.execPath}" "${mainFile}" run till --agents "${till()}"`;
  const program = start([], { command: [scriptCommand, '-qec', line, '/dev/null'] });
  await program.says('you> ');
  program.type('pay 7\r');
  await program.says('y or n> ');
  program.type('y\r');
  await program.says('Done: paid 7.');
  await program.says('you> ');
  program.type('begin\r');
  await program.says('begun');
  program.type('\u0003');
  await program.says('(cancelled)');
  await program.says('you> ');
  program.type('hello\r');
  await program.says('Hi.');
  await program.says('you> ');
  program.type('\u0003');

  const { code, out } = await program.ended;

  expect(out).toContain('is new. Ctrl-C stops an answer, Ctrl-D leaves.');
  expect(code).toBe(0);
});
