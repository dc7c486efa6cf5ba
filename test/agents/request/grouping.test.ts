import fc from 'fast-check';
import { expect, it } from 'vitest';
import { llmAgent } from '../../../src/agents/llm-agent.ts';
import { groupCalls, groupsCalls } from '../../../src/agents/request/grouping.ts';
import type { Content } from '../../../src/schemas/content.ts';
import { functionTool } from '../../../src/tools/function-tool.ts';
import { Conversation } from '../../support/fake-run.ts';
import { call, calls, replyModel, text } from '../../support/reply-model.ts';

/** `c`: a call with its response behind it; `t`: a text. */
const history = (plan: readonly ('c' | 't')[]): Content[] =>
  plan.flatMap((kind, index): Content[] =>
    kind === 't'
      ? [{ role: 'user', parts: [{ text: `${index}` }] }]
      : [
          { role: 'model', parts: [{ functionCall: { id: `${index}`, name: 'n' } }] },
          { role: 'user', parts: [{ functionResponse: { id: `${index}`, name: 'n', response: {} } }] },
        ],
  );

const letters = (contents: readonly Content[]): string =>
  contents.map(({ parts: [part] }) => (part?.functionCall ? 'c' : part?.functionResponse ? 'r' : 't')).join('');

it('puts the calls of a turn before its responses, and nothing across turns', () => {
  expect(letters(groupCalls(history(['t', 'c', 'c', 't', 'c'])))).toBe('tccrrtcr');
});

it('loses nothing and keeps the order of calls, of responses and of texts', () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom('c', 't')), (plan) => {
      const contents = history(plan);
      const grouped = groupCalls([...contents]);
      const only = (list: readonly Content[], letter: string) => list.filter((one) => letters([one]) === letter);

      expect(letters(grouped)).toMatch(/^(?:t|(c+)(r+))*$/);
      for (const letter of ['c', 'r', 't']) expect(only(grouped, letter)).toEqual(only(contents, letter));
    }),
  );
});

it('is for Gemini 3, unless the run says otherwise', () => {
  expect(
    ['gemini-3-pro', 'models/gemini-3.1-flash', 'gemini-2.5-flash', 'gpt-5'].map((name) => groupsCalls(name, {})),
  ).toEqual([true, true, false, false]);
  expect(groupsCalls('gemini-3-pro', { groupFunctionResponsesInHistoryOverride: false })).toBe(false);
});

it.each([
  [true, 'tccrr'],
  [false, 'tcrcr'],
])('shows the model a turn of two steps in that order (%s)', async (wish, order) => {
  const model = replyModel(calls(call('tick')), calls(call('tick')), text('done'));
  const tick = functionTool({ name: 'tick', description: '', run: () => ({ ok: true }) });
  const conversation = new Conversation(llmAgent({ name: 'a', model, tools: [tick] }));

  await conversation.send('go', { runConfig: { groupFunctionResponsesInHistoryOverride: wish } });

  expect(letters(model.requests[2]?.contents ?? [])).toBe(order);
});
