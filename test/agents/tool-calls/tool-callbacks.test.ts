import { expect, it } from 'vitest';
import type { LlmAgentSpec } from '../../../src/agents/definition/llm-spec.ts';
import { llmAgent } from '../../../src/agents/llm-agent.ts';
import type { Plugin, Tool } from '../../../src/core/runtime.ts';
import { Conversation } from '../../support/fake-run.ts';
import { call, calls, replyModel } from '../../support/reply-model.ts';

const add: Tool = { kind: 'tool', name: 'add', description: 'Adds.', run: ({ a, b }) => Number(a) + Number(b) };
const broken: Tool = {
  kind: 'tool',
  name: 'add',
  description: 'Adds.',
  run: () => {
    throw new Error('no');
  },
};

/** The response of one call `add({ a: 1, b: 2 })`. */
async function response(spec: Partial<LlmAgentSpec>, plugins: readonly Plugin[] = []): Promise<unknown> {
  const model = replyModel(calls(call('add', { a: 1, b: 2 })));
  const conversation = new Conversation(llmAgent({ name: 'a', model, tools: [add], ...spec }), { plugins });
  const events = await conversation.send('go');
  return events[1]?.content?.parts[0]?.functionResponse?.response;
}

it('lets callbacks before a tool change its arguments', async () => {
  expect(await response({ beforeTool: ({ args }) => void (args['b'] = 10) })).toEqual({ result: 11 });
});

it('uses what a before-tool callback answers instead of the tool, and shows it to after-tool callbacks', async () => {
  const seen: unknown[] = [];

  const answer = await response({
    tools: [broken],
    beforeTool: [() => undefined, () => ({ cached: true }), () => ({ cached: 'too late' })],
    afterTool: ({ result }) => void seen.push(result),
  });

  expect(answer).toEqual({ cached: true });
  expect(seen).toEqual([{ cached: true }]);
});

it('lets after-tool callbacks replace the result', async () => {
  expect(await response({ afterTool: ({ result }) => ({ twice: Number(result['result']) * 2 }) })).toEqual({
    twice: 6,
  });
});

it('uses what an on-tool-error callback answers, and shows it to after-tool callbacks', async () => {
  const answer = await response({
    tools: [broken],
    onToolError: ({ tool, args, error }) => ({ tool: tool.name, args, message: (error as Error).message }),
    afterTool: ({ result }) => ({ ...result, reviewed: true }),
  });

  expect(answer).toEqual({ tool: 'add', args: { a: 1, b: 2 }, message: 'no', reviewed: true });
});

it('offers calls of unknown tools to on-tool-error callbacks', async () => {
  expect(await response({ tools: [], onToolError: ({ tool }) => ({ missing: tool.name }) })).toEqual({
    missing: 'add',
  });
});

it('asks plugins before the callbacks of the agent', async () => {
  const plugin: Plugin = {
    name: 'p',
    beforeTool: () => ({ by: 'plugin' }),
    afterTool: ({ context, result }) => ({ ...result, call: context.functionCallId.slice(0, 4) }),
  };

  expect(await response({ beforeTool: () => ({ by: 'agent' }), afterTool: () => ({ by: 'agent' }) }, [plugin])).toEqual(
    {
      by: 'plugin',
      call: 'adk-',
    },
  );
});

it('fails the run when a callback around a tool throws', async () => {
  const beforeTool = (): never => {
    throw new Error('callback broken');
  };

  await expect(response({ beforeTool, onToolError: () => ({ never: true }) })).rejects.toThrow('callback broken');
  await expect(response({}, [{ name: 'p', beforeTool }])).rejects.toThrow(
    'Plugin "p" failed in beforeTool: callback broken',
  );
});

it('tells calls that are still running to stop when a callback fails the run', async () => {
  let reason: unknown;
  const patient: Tool = {
    kind: 'tool',
    name: 'wait',
    description: 'Waits.',
    run: (_args, ctx) => new Promise(() => ctx.signal.addEventListener('abort', () => (reason = ctx.signal.reason))),
  };
  const failure = new Error('callback broken');
  const model = replyModel(calls(call('wait'), call('add')));
  const root = llmAgent({
    name: 'a',
    model,
    tools: [patient, add],
    afterTool: () => {
      throw failure;
    },
  });

  await expect(new Conversation(root).send('go')).rejects.toBe(failure);

  expect(reason).toBe(failure);
});

it('lets a plugin choose which tools the model may see and call', async () => {
  const model = replyModel(calls(call('add')), calls(call('sub')));
  const declared = (name: string): Tool => ({
    kind: 'tool',
    name,
    description: name,
    declaration: { name, description: name },
    run: () => name,
  });
  const plugin: Plugin = {
    name: 'p',
    beforeToolSelection: ({ tools }) => [...tools.keys()].filter((name) => name !== 'add'),
  };

  const events = await new Conversation(llmAgent({ name: 'a', model, tools: [declared('add'), declared('sub')] }), {
    plugins: [plugin],
  }).send('go');

  expect(model.requests[0]?.config.tools?.[0]?.functionDeclarations?.map(({ name }) => name)).toEqual(['sub']);
  expect(events[1]?.content?.parts[0]?.functionResponse?.response['error']).toContain('There is no tool "add"');
  expect(events[3]?.content?.parts[0]?.functionResponse?.response).toEqual({ result: 'sub' });
});
