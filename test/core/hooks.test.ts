import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { agentTool } from '../../src/agents/agent-tool.ts';
import type { LlmAgentSpec } from '../../src/agents/definition/llm-spec.ts';
import { llmAgent } from '../../src/agents/llm-agent.ts';
import { sequentialAgent } from '../../src/agents/workflow.ts';
import type { HookName } from '../../src/core/hooks.ts';
import type { Agent, Plugin, Toolset } from '../../src/core/runtime.ts';
import { textContent, textOf } from '../../src/schemas/content.ts';
import type { Event } from '../../src/schemas/event.ts';
import { functionTool } from '../../src/tools/function-tool.ts';
import { call, calls, failingModel, replyModel, text } from '../support/reply-model.ts';
import { runAll, say, saying, testRunner } from '../support/run.ts';

/** Every hook of a plugin; a hook missing here, or one that is none, does not compile. */
const hookNames = Object.keys({
  appliesTo: 0,
  onUserMessage: 0,
  beforeRun: 0,
  onEvent: 0,
  afterRun: 0,
  onRunError: 0,
  beforeAgent: 0,
  afterAgent: 0,
  beforeModel: 0,
  afterModel: 0,
  onModelError: 0,
  beforeTool: 0,
  afterTool: 0,
  onToolError: 0,
  aroundModel: 0,
  aroundTool: 0,
  replaceToolset: 0,
  beforeToolSelection: 0,
} satisfies Record<HookName | 'appliesTo', 0>);

const ownNames = [
  'beforeAgent',
  'afterAgent',
  'beforeModel',
  'afterModel',
  'onModelError',
  'beforeTool',
  'afterTool',
  'onToolError',
] as const satisfies readonly (keyof LlmAgentSpec)[];

/** Hooks that note under their names what they get, and let everything go on. */
function notingHooks(names: readonly string[], seen: Map<string, Set<string>>): object {
  const hook =
    (name: string) =>
    (...given: unknown[]): unknown => {
      const [params] = given as [Record<string, unknown>];
      seen.set(name, (seen.get(name) ?? new Set()).add([given.length, ...Object.keys(params).toSorted()].join(' ')));
      if (name === 'appliesTo') return true;
      return typeof params['next'] === 'function' ? params['next']() : undefined;
    };
  return Object.fromEntries(names.map((name) => [name, hook(name)]));
}

/** The members of each hook as the document lists them, for hooks of an agent or of a plugin. */
function documented(where: string): Map<string, Set<string>> {
  const rows = readFileSync('docs/plugins.md', 'utf8').matchAll(/^\| `(\w+)` \| ([\w, ]+) \| ([^|]+) \|/gm);
  const members = new Map<string, Set<string>>();
  for (const [, name = '', places = '', list = ''] of rows) {
    if (!places.split(', ').includes(where)) continue;
    const keys = [...list.matchAll(/`(\w+)`/g)].map(([, key = '']) => key);
    members.set(name, new Set([['1', ...keys.toSorted()].join(' ')]));
  }
  return members;
}

const sorted = (seen: Map<string, Set<string>>): [string, Set<string>][] =>
  [...seen].toSorted(([a], [b]) => (a < b ? -1 : 1));

it('gives every hook one object with the members its document names', async () => {
  const ofPlugin = new Map<string, Set<string>>();
  const ofAgent = new Map<string, Set<string>>();
  const noTools: Toolset = { kind: 'toolset', getTools: async () => [], close: async () => {} };
  const fine = functionTool({ name: 'fine', description: 'Works.', run: () => 'ok' });
  const own = notingHooks(ownNames, ofAgent) as Partial<LlmAgentSpec>;
  const root = llmAgent({ name: 'root', model: failingThird(), tools: [fine, noTools], ...own });
  const plugin: Plugin = { name: 'noting', ...notingHooks(hookNames, ofPlugin) };
  const { runner, key } = await testRunner(root, { plugins: [plugin] });

  await runAll(runner, say(key, 'Hi'));
  await expect(runAll(runner, say(key, 'Again'))).rejects.toThrow('out of order');

  expect(sorted(ofPlugin)).toEqual(sorted(documented('plugin')));
  expect([...ofPlugin.keys()].toSorted()).toEqual(hookNames.toSorted());
  expect(sorted(ofAgent)).toEqual(sorted(documented('agent')));
});

/** Calls a tool that is there and one that is not, says "done", and then fails. */
function failingThird(): ReturnType<typeof replyModel> {
  return replyModel(calls(call('fine'), call('missing')), text('done'), () => {
    throw new Error('out of order');
  });
}

it.each([
  ['appliesTo', 'No taste'],
  ['onUserMessage', 'No ears'],
  ['beforeRun', 'No start'],
  ['onEvent', 'No eyes'],
  ['afterRun', 'No end'],
  ['beforeToolSelection', 'No choice'],
])('names the plugin and the hook when %s fails', async (hook, message) => {
  const cause = new Error(message);
  const fail = (): never => {
    throw cause;
  };
  const root = llmAgent({ name: 'root', model: replyModel() });
  const { runner, key } = await testRunner(root, { plugins: [{ name: 'broken', [hook]: fail }] });

  await expect(runAll(runner, say(key, 'Hi'))).rejects.toMatchObject({
    message: `Plugin "broken" failed in ${hook}: ${message}`,
    cause,
  });
});

it('calls a hook as a method of its plugin', async () => {
  class Counting implements Plugin {
    readonly name = 'counting';
    events = 0;
    onEvent({ event }: { event: Event }): void {
      if (!event.partial) this.events += 1;
    }
  }
  const plugin = new Counting();
  const { runner, key } = await testRunner(saying('one', 'two'), { plugins: [plugin] });

  await runAll(runner, say(key, 'Hi'));

  expect(plugin.events).toBe(2);
});

it.each(['a run', 'an agent used as a tool'])(
  'lets a plugin replace an event of %s, but not its id, invocation and time',
  async (place) => {
    const original: Event[] = [];
    const stored: Event[] = [];
    const plugin: Plugin = {
      name: 'forger',
      onEvent({ event }) {
        if (textOf(event.content) !== 'secret') return undefined;
        original.push(event);
        const content = textContent('model', 'public');
        return { ...event, id: 'mine', invocationId: 'mine', timestamp: 1, author: '', branch: 'other', content };
      },
    };
    const witness: Agent = {
      name: 'witness',
      // oxlint-disable-next-line require-yield
      async *run({ session }) {
        stored.push(...session.events.filter(({ content }) => textOf(content) === 'public'));
      },
    };
    const inner = sequentialAgent({ name: 'inner', subAgents: [{ ...saying('secret'), name: 'speaker' }, witness] });
    const model = replyModel(calls(call('inner', { request: 'Tell' })));
    const root = place === 'a run' ? inner : llmAgent({ name: 'root', model, tools: [agentTool({ agent: inner })] });
    const { runner, key } = await testRunner(root, { plugins: [plugin] });

    await runAll(runner, say(key, 'Hi'));

    expect(stored).toEqual(original.map((event) => ({ ...event, branch: 'other', content: stored[0]?.content })));
    expect(stored).toHaveLength(1);
  },
);

it('logs what an onRunError hook throws, and tells the other plugins of the error', async () => {
  const warnings: unknown[] = [];
  const told: unknown[] = [];
  const plugins: Plugin[] = [
    { name: 'broken', onRunError: () => Promise.reject(new Error('no pager')) },
    { name: 'pager', onRunError: ({ error }) => void told.push(error) },
  ];
  const root = llmAgent({ name: 'root', model: failingModel(new Error('out of order')) });
  const log = { warn: (fields: object): void => void warnings.push(fields) };
  const { runner, key } = await testRunner(root, { plugins, log });

  await expect(runAll(runner, say(key, 'Hi'))).rejects.toThrow('out of order');

  expect(warnings).toMatchObject([{ err: { message: 'Plugin "broken" failed in onRunError: no pager' } }]);
  expect(told).toMatchObject([{ message: expect.stringContaining('out of order') }]);
});

it('does not compile with a member that a hook does not get', () => {
  const plugins: Plugin[] = [
    // @ts-expect-error a model hook gets `request`
    { name: 'a', beforeModel: ({ req }) => void req },
    // @ts-expect-error the context is `context` everywhere
    { name: 'b', onEvent: ({ event, ctx }) => void [event, ctx] },
    // @ts-expect-error hooks take one object
    { name: 'c', beforeTool: (tool, args) => void [tool, args] },
    // @ts-expect-error a plugin has no hook of this name
    { name: 'd', beforeModelCallback: () => undefined },
  ];

  expect(plugins).toHaveLength(4);
});
