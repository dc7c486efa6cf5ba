import { expect, it } from 'vitest';
import type { ModelRequest } from '../../src/core/model.ts';
import type { CallbackContext } from '../../src/core/runtime.ts';
import { contextFilterPlugin } from '../../src/plugins/context-filter.ts';
import { type Content, textContent } from '../../src/schemas/content.ts';

const call: Content = { role: 'model', parts: [{ functionCall: { id: 'c', name: 'f', args: {} } }] };
const answer: Content = { role: 'user', parts: [{ functionResponse: { id: 'c', name: 'f', response: {} } }] };
const [one, two, three] = ['one', 'two', 'three'].map((text) => textContent('user', text)) as [
  Content,
  Content,
  Content,
];
const said = textContent('model', 'said');

const requestOf = (contents: Content[]): ModelRequest => ({ model: 'm', contents, config: {}, stream: false });
const ctx = { agentName: 'root' } as CallbackContext;

it.each([
  ['the last turn, with its calls and answers', 1, [one, said, two, call, answer], [two, call, answer]],
  ['the last two turns', 2, [one, said, two, said, three], [two, said, three]],
  ['user messages in a row as one turn', 1, [one, said, two, three], [two, three]],
  ['everything when there are fewer turns', 5, [one, said], [one, said]],
])('keeps %s', async (_, invocationsToKeep, contents, kept) => {
  const request = requestOf(contents);

  await contextFilterPlugin({ invocationsToKeep }).beforeModel?.({ request, context: ctx });

  expect(request.contents).toEqual(kept);
});

it('applies a filter of its own, and lets the request through when that fails', async () => {
  const warnings: string[] = [];
  const log = { info: () => {}, warn: (_: object, message: string) => void warnings.push(message) };
  const shortened = requestOf([one, said, two]);
  const untouched = requestOf([one, said]);

  await contextFilterPlugin({ filter: (contents) => contents.slice(-1) }).beforeModel?.({
    request: shortened,
    context: ctx,
  });
  const failing = contextFilterPlugin({
    filter: () => {
      throw new Error('no');
    },
    log,
  });
  await failing.beforeModel?.({ request: untouched, context: ctx });

  expect(shortened.contents).toEqual([two]);
  expect(untouched.contents).toEqual([one, said]);
  expect(warnings).toEqual(['context filter failed']);
});
