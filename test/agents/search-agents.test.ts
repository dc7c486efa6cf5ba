import { expect, it } from 'vitest';
import { z } from 'zod';
import { llmAgent } from '../../src/agents/llm-agent.ts';
import type { Model, ModelRequest, ModelResponse } from '../../src/core/model.ts';
import { googleSearch } from '../../src/tools/built-in/google-search.ts';
import { functionTool } from '../../src/tools/function-tool.ts';
import { runAll, say, testRunner } from '../support/run.ts';

const clock = functionTool({ name: 'clock', description: 'Tells the time.', run: () => ({ time: '12:00' }) });

/** A model of that name that gives these answers, one to each request. */
function answering(name: string, answers: readonly ModelResponse[]): { model: Model; requests: ModelRequest[] } {
  const requests: ModelRequest[] = [];
  return {
    requests,
    model: {
      name,
      async *generate(request) {
        requests.push(structuredClone({ ...request, onRetry: undefined }));
        yield answers[requests.length - 1] ?? { content: { role: 'model', parts: [{ text: 'Done.' }] } };
      },
    },
  };
}

/** Function names, and built-ins by their field. */
const offered = ({ config }: ModelRequest): string[] =>
  (config.tools ?? []).flatMap(({ functionDeclarations = [], ...builtIn }) => [
    ...functionDeclarations.map(({ name }) => name),
    ...Object.keys(builtIn),
  ]);

it('lets an agent that only searches stand in for a search beside functions on Gemini 2', async () => {
  const call = { functionCall: { name: 'google_search_agent', args: { request: 'news of Paris' } } };
  const { model, requests } = answering('gemini-2.5-flash', [
    { content: { role: 'model', parts: [call] } },
    { content: { role: 'model', parts: [{ text: 'It rains.' }] } },
  ]);
  const { runner, key } = await testRunner(llmAgent({ name: 'root', model, tools: [clock, googleSearch] }));

  const events = await runAll(runner, say(key, 'What is new in Paris?'));

  expect(requests.map(offered)).toEqual([
    ['clock', 'google_search_agent'],
    ['googleSearch'],
    ['clock', 'google_search_agent'],
  ]);
  expect(requests[1]?.contents).toEqual([{ role: 'user', parts: [{ text: 'news of Paris' }] }]);
  expect(events[1]?.content?.parts[0]?.functionResponse?.response).toEqual({ result: 'It rains.' });
});

it.each([
  ['gemini-2.5-flash', [googleSearch], ['googleSearch']],
  ['gemini-3-pro', [clock, googleSearch], ['clock', 'googleSearch']],
])('leaves the search of %s as it is where it is taken', async (name, tools, expected) => {
  const { model, requests } = answering(name, []);
  const { runner, key } = await testRunner(llmAgent({ name: 'root', model, tools }));

  await runAll(runner, say(key, 'Hello'));

  expect(requests.map(offered)).toEqual([expected]);
});

it('counts the function for a structured answer, too', async () => {
  const { model, requests } = answering('gemini-2.5-flash', []);
  const outputSchema = z.object({ title: z.string() });
  const { runner, key } = await testRunner(llmAgent({ name: 'root', model, tools: [googleSearch], outputSchema }));

  await runAll(runner, say(key, 'Hello'));

  expect(offered(requests[0] as ModelRequest)).toEqual(['google_search_agent', 'set_model_response']);
});
