import { expect, it } from 'vitest';
import { llmAgent } from '../../src/agents/llm-agent.ts';
import type { LiveInput } from '../../src/core/model.ts';
import type { Content } from '../../src/schemas/content.ts';
import { call, calls, replyModel, text } from '../support/reply-model.ts';
import { open, runAll, say, testRunner } from '../support/run.ts';

const stray: Content = {
  role: 'user',
  parts: [{ functionResponse: { id: 'adk-nope', name: 'f', response: { ok: true } } }],
};

it.each([0, 1])('refuses an answer to a call nobody made, and stores nothing, after %d turns', async (turns) => {
  const model = replyModel(text('hello'));
  const { runner, key, services } = await testRunner(llmAgent({ name: 'a', model }));
  for (let turn = 0; turn < turns; turn += 1) await runAll(runner, say(key, 'hi'));
  const before = await services.sessions.getSession(key);

  await expect(runAll(runner, { ...say(key, 'x'), newMessage: stray })).rejects.toMatchObject({
    code: 'FunctionCallNotFound',
    message: 'No call of "f" with id "adk-nope" precedes its response',
  });

  expect((await services.sessions.getSession(key))?.events).toEqual(before?.events);
  expect(model.requests).toHaveLength(turns);
});

it('takes an answer to a call that was made', async () => {
  const model = replyModel(calls(call('later', {}, 'c1')), text('thanks'));
  const later = { kind: 'tool', name: 'later', description: '', isLongRunning: true, run: () => undefined } as const;
  const { runner, key } = await testRunner(llmAgent({ name: 'a', model, tools: [later] }));
  await runAll(runner, say(key, 'hi'));

  const parts = [{ functionResponse: { id: 'c1', name: 'later', response: { ok: true } } }];
  const events = await runAll(runner, { ...say(key, 'x'), newMessage: { role: 'user', parts } });

  expect(events.at(-1)?.content?.parts).toEqual([{ text: 'thanks' }]);
});

it('leaves senseless messages of a live client out, tells of them, and goes on', async () => {
  const model = replyModel(text('one'), text('two'));
  const { runner, key, services } = await testRunner(llmAgent({ name: 'a', model }));
  const refused: string[] = [];
  const hello = (said: string): LiveInput => ({ kind: 'content', content: { role: 'user', parts: [{ text: said }] } });
  async function* input(): AsyncGenerator<LiveInput> {
    yield { kind: 'content', content: stray };
    yield hello('first');
    yield { kind: 'content', content: stray };
    yield hello('second');
  }

  const onRefused = (error: Error): void => void refused.push(error.message);
  const events = await Array.fromAsync(await runner.startLive({ ...key, onRefused }, input(), open));

  expect(refused).toHaveLength(2);
  expect(events.flatMap(({ content }) => content?.parts ?? [])).toEqual([{ text: 'one' }, { text: 'two' }]);
  const stored = (await services.sessions.getSession(key))?.events.filter(({ author }) => author === 'user');
  expect(stored?.flatMap(({ content }) => content?.parts)).toEqual([{ text: 'first' }, { text: 'second' }]);
});
