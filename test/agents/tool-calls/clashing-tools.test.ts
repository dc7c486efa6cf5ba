import { expect, it } from 'vitest';
import { llmAgent } from '../../../src/agents/llm-agent.ts';
import type { Tool, Toolset } from '../../../src/core/runtime.ts';
import { functionTool } from '../../../src/tools/function-tool.ts';
import { Conversation } from '../../support/fake-run.ts';
import { call, calls, replyModel } from '../../support/reply-model.ts';

const tool = (name: string, from: string): Tool => functionTool({ name, description: from, run: () => ({ from }) });
function server(name: string, ...names: readonly string[]): Toolset {
  const tools = names.map((one) => tool(one, name));
  return { kind: 'toolset', name, isRemote: true, getTools: async () => tools, close: async () => {} };
}

it.each([
  ['before', [server('remote', 'pay', 'other'), tool('pay', 'local')]],
  ['after', [tool('pay', 'local'), server('remote', 'pay', 'other')]],
])('prefers the own tool to that of a server that is listed %s it, and warns', async (_where, tools) => {
  const model = replyModel(calls(call('pay'), call('other')));
  const chat = new Conversation(llmAgent({ name: 'a', model, tools }));

  const events = await chat.send('go');

  expect(events[1]?.content?.parts.map(({ functionResponse }) => functionResponse?.response)).toEqual([
    { from: 'local' },
    { from: 'remote' },
  ]);
  expect(chat.log).toEqual([expect.objectContaining({ toolset: 'remote', tool: 'pay' })]);
});

it('leaves a name to the first of two servers, and the names of the runtime to none', async () => {
  const names = ['transfer_to_agent', 'set_model_response', 'task_completed', 'adk_request_confirmation'];
  const model = replyModel();
  const tools = [server('one', 'find', ...names), server('two', 'find', 'adk_request_credential', 'keep')];
  const chat = new Conversation(
    llmAgent({ name: 'a', model, tools, subAgents: [llmAgent({ name: 'b', description: 'B', model })] }),
  );

  await chat.send('go');

  const declared = model.requests[0]?.config.tools?.flatMap(({ functionDeclarations = [] }) => functionDeclarations);
  expect(declared?.map(({ name, description }) => [name, description])).toEqual([
    ['transfer_to_agent', expect.stringContaining('Hands the conversation over')],
    ['find', 'one'],
    ['keep', 'two'],
  ]);
  expect(chat.log).toHaveLength(6);
});
