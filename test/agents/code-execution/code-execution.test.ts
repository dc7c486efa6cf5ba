import { expect, it } from 'vitest';
import type { LlmAgentSpec } from '../../../src/agents/definition/llm-spec.ts';
import { llmAgent } from '../../../src/agents/llm-agent.ts';
import type { CodeExecutionInput, CodeExecutionOutput, CodeExecutor } from '../../../src/core/code-executor.ts';
import type { Tool } from '../../../src/core/runtime.ts';
import { Conversation, summary } from '../../support/fake-run.ts';
import { outline } from '../../support/history.ts';
import { call, calls, parts, replyModel, text } from '../../support/reply-model.ts';

interface FakeExecutor extends CodeExecutor {
  readonly inputs: CodeExecutionInput[];
}

/** An executor that gives its outputs in order and keeps what it was asked to run. */
function fakeExecutor(
  outputs: readonly Partial<CodeExecutionOutput>[],
  options: Partial<CodeExecutor> = {},
): FakeExecutor {
  const inputs: CodeExecutionInput[] = [];
  return {
    ...options,
    inputs,
    execute: async (input) => {
      inputs.push(input);
      return { stdout: '', stderr: '', outputFiles: [], ...outputs[inputs.length - 1] };
    },
  };
}

const conversationWith = (spec: Partial<LlmAgentSpec>): Conversation =>
  new Conversation(llmAgent({ name: 'a', ...spec }));
const code = '```python\nprint(1 + 1)\n```';

it('runs the first code block of an answer, drops what follows, and asks the model again', async () => {
  const codeExecutor = fakeExecutor([{ stdout: '2' }]);
  const model = replyModel(text(`Let me see.\n${code}\nThe answer is 3.`), text('It is 2.'));
  const conversation = conversationWith({ model, codeExecutor, outputKey: 'out' });

  const events = await conversation.send('1 + 1?');

  expect(codeExecutor.inputs).toEqual([{ code: 'print(1 + 1)', language: 'python', inputFiles: [] }]);
  expect(events.map(({ content }) => content)).toEqual([
    {
      role: 'model',
      parts: [{ text: 'Let me see.\n' }, { executableCode: { code: 'print(1 + 1)', language: 'PYTHON' } }],
    },
    { role: 'model', parts: [{ codeExecutionResult: { outcome: 'OUTCOME_OK', output: '2' } }] },
    { role: 'model', parts: [{ text: 'It is 2.' }] },
  ]);
  expect(outline(model.requests[1]!.contents)).toEqual([
    'user: 1 + 1?',
    `model: Let me see.\n ${code.replace('python', 'tool_code')}`,
    'user: ```tool_output\n2\n```',
  ]);
  expect(conversation.session?.state['out']).toBe('It is 2.');
});

it('runs code that comes as a part of its own, unless it has run already', async () => {
  const codeExecutor = fakeExecutor([{ stdout: '2' }]);
  const ran = { executableCode: { code: 'old' } };
  const result = { codeExecutionResult: { outcome: 'OUTCOME_OK' } };
  const model = replyModel(parts(ran, result, { executableCode: { code: 'new' } }), text('done'));

  const events = await conversationWith({ model, codeExecutor }).send('go');

  expect(codeExecutor.inputs.map((input) => input.code)).toEqual(['new']);
  expect(summary(events).at(-1)).toBe('a: done');
});

it('shows failures to the model, and runs no more code after too many', async () => {
  const codeExecutor = fakeExecutor([{ stderr: 'NameError' }, { stderr: 'TypeError' }]);
  const model = replyModel(text(code), text(code), text(`I give up: ${code}`));
  const conversation = conversationWith({ model, codeExecutor });

  const events = await conversation.send('go');

  expect(events.flatMap(({ content }) => content?.parts.flatMap((part) => part.codeExecutionResult ?? []))).toEqual([
    { outcome: 'OUTCOME_FAILED', output: 'NameError' },
    { outcome: 'OUTCOME_FAILED', output: 'TypeError' },
  ]);
  expect(codeExecutor.inputs).toHaveLength(2);
  expect(summary(events).at(-1)).toBe(`a: I give up: ${code}`);
  expect(conversation.session?.state['_code_executor_error_counts']).toEqual({ [events[0]!.invocationId]: 2 });
});

it('saves the files that code makes', async () => {
  const file = { name: 'plot.png', mimeType: 'image/png', data: 'AAAA' };
  const codeExecutor = fakeExecutor([{ stdout: 'drawn', outputFiles: [file] }]);
  const conversation = conversationWith({ model: replyModel(text(code), text('done')), codeExecutor });

  const events = await conversation.send('go');

  expect(events[1]?.actions.artifactDelta).toEqual({ 'plot.png': 0 });
  expect(events[1]?.content?.parts[0]?.codeExecutionResult?.output).toBe('drawn\n\nSaved as artifacts: `plot.png`');
});

it('keeps one execution id for a session when the executor is stateful', async () => {
  const codeExecutor = fakeExecutor([], { stateful: true });
  const conversation = conversationWith({
    model: replyModel(text(code), text('a'), text(code), text('b')),
    codeExecutor,
  });

  await conversation.send('go');
  await conversation.send('on');

  expect(codeExecutor.inputs.map(({ executionId }) => executionId)).toEqual([
    conversation.session?.id,
    conversation.session?.id,
  ]);
});

it('looks into data files once, and shows the model their names instead of their contents', async () => {
  const codeExecutor = fakeExecutor([{ stdout: '2 rows' }, { stdout: '7' }], { optimizeDataFile: true });
  const model = replyModel(text(code), text('It is 7.'), text('Yes.'));
  const conversation = conversationWith({ model, codeExecutor });
  const csv = { inlineData: { mimeType: 'text/csv', data: 'YSxiCjEsMgo=' } };

  const events = await conversation.send({ role: 'user', parts: [{ text: 'Sum?' }, csv] });
  await conversation.send('Sure?');

  expect(summary(events)[0]).toBe('a: Looking into `data_1_2.csv`. + executableCode');
  expect(codeExecutor.inputs).toHaveLength(2);
  expect(codeExecutor.inputs[0]?.code).toContain('open("data_1_2.csv"');
  for (const { inputFiles } of codeExecutor.inputs) {
    expect(inputFiles).toEqual([{ name: 'data_1_2.csv', mimeType: 'text/csv', data: 'YSxiCjEsMgo=' }]);
  }
  expect(outline(model.requests[0]!.contents)[0]).toBe('user: Sum? The file `data_1_2.csv` is available to code.');
  expect(conversation.session?.state['_code_execution_context']).toMatchObject({
    processed_input_files: ['data_1_2.csv'],
  });
});

it('runs tools rather than code when an answer has both', async () => {
  const codeExecutor = fakeExecutor([]);
  const tick: Tool = { kind: 'tool', name: 'tick', description: 'x', run: () => 'tock' };
  const model = replyModel(parts({ text: code }, call('tick')), text('done'));

  await conversationWith({ model, codeExecutor, tools: [tick] }).send('go');

  expect(codeExecutor.inputs).toEqual([]);
  expect(model.requests).toHaveLength(2);
});

it('lets an executor of the provider shape the request, and runs nothing', async () => {
  const codeExecutor: CodeExecutor = {
    processRequest: (request) => {
      request.config.tools = [...(request.config.tools ?? []), { codeExecution: {} }];
    },
  };
  const ran = parts(
    { executableCode: { code: 'x' } },
    { codeExecutionResult: { outcome: 'OUTCOME_OK' } },
    { text: 'done' },
  );
  const model = replyModel(ran);

  const events = await conversationWith({ model, codeExecutor }).send('go');

  expect(events).toHaveLength(1);
  expect(model.requests[0]?.config.tools).toEqual([{ codeExecution: {} }]);
});

it('closes the executor with the agent, after toolsets that fail too', async () => {
  let closed = false;
  const root = llmAgent({
    name: 'a',
    codeExecutor: { close: async () => void (closed = true) },
    tools: [{ kind: 'toolset', getTools: async () => [], close: () => Promise.reject(new Error('stuck')) }],
  });

  await expect(root.close?.()).rejects.toThrow('Closing what agent "a" holds failed');
  expect(closed).toBe(true);
});

it('takes the delimiters of the executor', async () => {
  const codeExecutor = fakeExecutor([{ stdout: 'ok' }], {
    codeBlockDelimiters: [['<run>', '</run>']],
    executionResultDelimiters: ['<out>', '</out>'],
  });
  const model = replyModel(calls({ text: 'Now <run>1</run>' }), text('done'));

  await conversationWith({ model, codeExecutor }).send('go');

  expect(outline(model.requests[1]!.contents).slice(1)).toEqual(['model: Now  <run>1</run>', 'user: <out>ok</out>']);
});
