import { expect, it } from 'vitest';
import { definitionOf } from '../../src/agents/definition/llm-definition.ts';
import { llmAgent } from '../../src/agents/llm-agent.ts';
import { codeSandbox } from '../../src/code/code-sandbox.ts';
import { javascriptSandbox } from '../../src/code/javascript/javascript-sandbox.ts';
import { pythonSandbox } from '../../src/code/python/python-sandbox.ts';
import { InMemoryArtifacts } from '../../src/services/artifacts/in-memory.ts';
import { builtInCodeExecutor } from '../../src/tools/built-in/built-in-code-execution.ts';
import { agentsDir } from '../loaders/agents-dir.ts';
import { Conversation } from '../support/fake-run.ts';
import { replyModel, text } from '../support/reply-model.ts';

const block = (code: string, tag = 'javascript'): string => `\`\`\`${tag}\n${code}\n\`\`\``;
const results = (events: Awaited<ReturnType<Conversation['send']>>): string[] =>
  events.flatMap(({ content }) => content?.parts.flatMap((part) => part.codeExecutionResult?.output ?? []) ?? []);

it('turns the files that code of a model writes into artifacts', async () => {
  const artifacts = new InMemoryArtifacts();
  const model = replyModel(text(block('files.write("sum.txt", String(1 + 1))')), text('It is in sum.txt.'));
  const agent = llmAgent({ name: 'a', model, codeExecutor: javascriptSandbox({ timeoutMs: 20_000 }) });
  const conversation = new Conversation(agent, { artifacts });

  const events = await conversation.send('1 + 1?');
  await agent.close?.();

  expect(events[1]?.actions.artifactDelta).toEqual({ 'sum.txt': 0 });
  const { appName, userId, id: sessionId } = conversation.session!;
  expect(await artifacts.loadArtifact({ appName, userId, sessionId }, 'sum.txt')).toEqual({
    inlineData: { mimeType: 'text/plain', data: Buffer.from('2').toString('base64') },
  });
});

it('lets a model mend code that fails, as often as the executor allows', async () => {
  const model = replyModel(text(block('oops()')), text(block('console.log(6 * 7)')), text('42'));
  const codeExecutor = javascriptSandbox({ errorRetryAttempts: 2, timeoutMs: 20_000 });
  const events = await new Conversation(llmAgent({ name: 'a', model, codeExecutor })).send('go');

  const hopeless = replyModel(...Array.from({ length: 4 }, () => text(block('oops()'))));
  const once = javascriptSandbox({ errorRetryAttempts: 1, timeoutMs: 20_000 });
  const failed = await new Conversation(llmAgent({ name: 'b', model: hopeless, codeExecutor: once })).send('go');

  expect(results(events)).toEqual([expect.stringContaining('oops is not defined'), '42\n']);
  expect(results(failed)).toHaveLength(1);
});

it('picks the sandbox by the language of the block', async () => {
  const codeExecutor = codeSandbox({ timeoutMs: 20_000 });
  const replies = [text(block('console.log(typeof 1)', 'js')), text(block('print(type(1).__name__)', 'python'))];
  const conversation = new Conversation(llmAgent({ name: 'a', model: replyModel(...replies), codeExecutor }));

  const events = await conversation.send('go');
  await codeExecutor.close();

  expect(results(events)).toEqual(['number\n', 'int\n']);
});

it('looks into data files of the user before the model is asked', async () => {
  const codeExecutor = pythonSandbox({ optimizeDataFile: true, timeoutMs: 20_000 });
  const conversation = new Conversation(llmAgent({ name: 'a', model: replyModel(text('ok')), codeExecutor }));
  const data = Buffer.from('name,age\nAda,36\nBob,\n').toString('base64');

  const events = await conversation.send({ role: 'user', parts: [{ inlineData: { mimeType: 'text/csv', data } }] });

  expect(results(events)).toEqual([
    expect.stringContaining("2 rows, 2 columns\n- name: 0 missing, e.g. ['Ada', 'Bob']"),
  ]);
});

it('leaves code to Gemini with the built-in executor', async () => {
  const model = { ...replyModel(text('hi')), name: 'gemini-2.5-flash' };
  const old = { ...replyModel(text('hi')), name: 'gemini-1.5-pro' };
  const codeExecutor = builtInCodeExecutor();
  await new Conversation(llmAgent({ name: 'a', model, codeExecutor })).send('go');

  expect(model.requests[0]?.config.tools).toEqual([{ codeExecution: {} }]);
  await expect(new Conversation(llmAgent({ name: 'b', model: old, codeExecutor })).send('go')).rejects.toMatchObject({
    code: 'ConfigurationException',
  });
});

it.each([
  ['BuiltInCodeExecutor', { processRequest: expect.any(Function) }],
  ['{ name: CodeSandbox, args: { timeout_ms: 1000, stateful: true } }', { stateful: true }],
  ['{ name: JavaScriptSandbox, args: { errorRetryAttempts: 5 } }', { errorRetryAttempts: 5 }],
  ['{ name: mine, args: { size: 3 } }', { size: 3 }],
])('takes an executor from YAML: %s', async (yaml, expected) => {
  const registry = 'export const mine = ({ size }) => ({ size, execute: async () => ({}) });';
  const files = {
    'app/root_agent.yaml': `name: a\ninstruction: b\ncode_executor: ${yaml}\n`,
    'app/registry.js': registry,
  };

  const app = await agentsDir(files).load().loadAgent('app');

  expect(definitionOf(app.rootAgent)?.codeExecutor).toMatchObject(expected);
});
