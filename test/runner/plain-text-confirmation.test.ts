import { expect, it } from 'vitest';
import { llmAgent } from '../../src/agents/llm-agent.ts';
import { textOf } from '../../src/schemas/content.ts';
import { functionTool } from '../../src/tools/function-tool.ts';
import { call, calls, replyModel, text } from '../support/reply-model.ts';
import { runAll, say, testRunner } from '../support/run.ts';

/** A payment that waits for a confirmation, and what was paid. */
async function waiting(plainTextToolConfirmation: boolean, payments = 1) {
  const paid: unknown[] = [];
  const pay = functionTool({
    name: 'pay',
    description: 'Pays.',
    requireConfirmation: true,
    run: () => {
      paid.push(true);
      return { paid: true };
    },
  });
  const asks = Array.from({ length: payments }, () => call('pay'));
  const model = replyModel(calls(...asks), text('done'), text('done'));
  const { runner, key, services } = await testRunner(llmAgent({ name: 'payer', model, tools: [pay] }), {
    runConfig: { plainTextToolConfirmation },
  });
  await runAll(runner, say(key, 'go'));
  return { paid, model, runner, key, services };
}

it.each([
  ['Yes', 1],
  ['ok.', 1],
  ['go ahead!', 1],
  ['No', 0],
  ["don't", 0],
])('takes a plain "%s" for the answer to the open confirmation', async (words, times) => {
  const { paid, model, runner, key, services } = await waiting(true);

  const events = await runAll(runner, say(key, words));

  expect(paid).toHaveLength(times);
  expect(textOf(events.at(-1)?.content)).toBe('done');
  const seen = model.requests.at(-1)?.contents.flatMap(({ parts }) => parts.flatMap((part) => part.text ?? []));
  expect(seen).toEqual(['go']);
  const session = await services.sessions.getSession(key);
  expect(textOf(session?.events.findLast(({ author }) => author === 'user')?.content)).toBe(words);
});

it.each([
  ['other words', true, 1, 'yes, but only half of it'],
  ['two questions', true, 2, 'yes'],
  ['a run that wants buttons', false, 1, 'yes'],
])('leaves the message alone with %s', async (_, isPlain, payments, words) => {
  const { paid, model, runner, key } = await waiting(isPlain, payments);

  await runAll(runner, say(key, words));

  expect(paid).toEqual([]);
  expect(textOf(model.requests.at(-1)?.contents.at(-1))).toBe(words);
});
