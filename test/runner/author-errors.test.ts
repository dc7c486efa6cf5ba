import { expect, it } from 'vitest';
import { errorPolicy } from '../../src/base/error-policy.ts';
import type { Agent } from '../../src/core/runtime.ts';
import { functionTool, llmAgent } from '../../src/index.ts';
import { testRunner, runAll, say, saying } from '../support/run.ts';

const policy = (showsThrown: boolean) => errorPolicy({ showsThrown, folders: [process.cwd()] });

const failing: Agent = {
  name: 'root',
  // oxlint-disable-next-line require-yield
  async *run() {
    throw new TypeError('out of stock');
  },
};

it('throws what an agent threw as it is, where nobody decides what callers see', async () => {
  const { runner, key, services } = await testRunner(failing);
  await expect(runAll(runner, say(key, 'Hi'))).rejects.toThrow(TypeError);
  expect((await services.sessions.getSession(key))?.events.at(-1)).toMatchObject({ errorMessage: 'Internal error' });
});

it('stores message and place of an error, or its id, and no stack', async () => {
  for (const showsThrown of [true, false]) {
    const { runner, key, services } = await testRunner(failing, { errors: policy(showsThrown) });
    await expect(runAll(runner, say(key, 'Hi'))).rejects.toMatchObject({ code: 'internal' });
    const last = (await services.sessions.getSession(key))?.events.at(-1);
    expect(last?.errorMessage).toMatch(
      showsThrown ? /^TypeError: out of stock \(at test\/runner\// : /^Internal error \(id /,
    );
    expect(JSON.stringify(last)).not.toContain('    at ');
  }
});

it('tells plugins what was thrown as it is', async () => {
  const told: unknown[] = [];
  const plugins = [{ name: 'audit', onRunError: ({ error }: { error: unknown }) => void told.push(error) }];
  const { runner, key } = await testRunner(failing, { errors: policy(false), plugins });
  await expect(runAll(runner, say(key, 'Hi'))).rejects.toMatchObject({ code: 'internal' });
  expect(told).toEqual([new TypeError('out of stock')]);
});

it('gives an answer to an open call that a model can read', async () => {
  const call = { id: 'c1', name: 'buy', args: {} };
  const model = {
    name: 'mine',
    async *generate() {
      yield { content: { role: 'model', parts: [{ functionCall: call }] } };
    },
  };
  const beforeTool = (): never => {
    throw new TypeError('out of stock');
  };
  const buy = functionTool({ name: 'buy', description: 'Buys.', parameters: { type: 'object' }, run: () => ({}) });
  const agent = llmAgent({ name: 'root', model, instruction: 'x', tools: [buy], beforeTool });
  const { runner, key, services } = await testRunner(agent, { errors: policy(true) });
  await expect(runAll(runner, say(key, 'Hi'))).rejects.toMatchObject({
    where: expect.stringContaining('author-errors'),
  });
  const last = (await services.sessions.getSession(key))?.events.at(-1);
  expect(last?.errorMessage).toContain('out of stock');
  expect(last?.content?.parts[0]?.functionResponse?.response).toEqual({
    error: 'The run ended before this tool answered: Internal error',
  });
});

it('lets the next run begin after a plugin failed at the end of one', async () => {
  let runs = 0;
  const afterRun = (): void => {
    runs += 1;
    if (runs === 1) throw new RangeError('no room');
  };
  const { runner, key } = await testRunner(saying('Hello'), {
    errors: policy(false),
    plugins: [{ name: 'audit', afterRun }],
  });
  await expect(runAll(runner, say(key, 'Hi'))).rejects.toMatchObject({
    message: expect.stringMatching(/^Plugin "audit" failed in afterRun \(id /),
  });
  expect(await runAll(runner, say(key, 'Hi', { onBusy: 'reject' }))).toHaveLength(1);
});

it('throws the first failure after a run, and logs those of the other plugins', async () => {
  const logged: unknown[] = [];
  const log = { warn: ({ err }: { err?: Error }) => void logged.push(err?.message) };
  const plugins = ['audit', 'billing', 'search'].map((name) => ({
    name,
    afterRun: () => {
      throw new RangeError('no room');
    },
  }));
  const { runner, key } = await testRunner(saying('Hello'), { log, plugins });
  await expect(runAll(runner, say(key, 'Hi'))).rejects.toThrow('Plugin "audit" failed in afterRun: no room');
  expect(logged).toEqual([
    'Plugin "billing" failed in afterRun: no room',
    'Plugin "search" failed in afterRun: no room',
  ]);
});

it('throws the failure of the run, and logs those of the plugins after it', async () => {
  const logged: unknown[] = [];
  const log = { warn: ({ err }: { err?: Error }) => void logged.push(err?.message) };
  const afterRun = (): void => {
    throw new RangeError('no room');
  };
  const { runner, key } = await testRunner(failing, { log, plugins: [{ name: 'audit', afterRun }] });
  await expect(runAll(runner, say(key, 'Hi'))).rejects.toThrow(TypeError);
  expect(logged).toEqual(['Plugin "audit" failed in afterRun: no room']);
});
