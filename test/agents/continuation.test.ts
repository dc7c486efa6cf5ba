import { expect, it } from 'vitest';
import { llmAgent } from '../../src/agents/llm-agent.ts';
import { loopAgent, parallelAgent, sequentialAgent } from '../../src/agents/workflow.ts';
import type { Model } from '../../src/core/model.ts';
import type { Agent, Tool } from '../../src/core/runtime.ts';
import { exitLoop } from '../../src/tools/built-in/exit-loop.ts';
import { Conversation, summary } from '../support/fake-run.ts';
import { text } from '../support/reply-model.ts';

const tick: Tool = {
  kind: 'tool',
  name: 'tick',
  description: 'x',
  declaration: { name: 'tick', description: 'x' },
  run: () => 'tock',
};
const speaker = (name: string): Agent => llmAgent({ name, script: [{ text: `${name} speaks` }] });
const ticker = (name: string): Agent =>
  llmAgent({
    name,
    tools: [tick],
    script: [{ after: 'tick', text: `${name} has ticked` }, { calls: [{ name: 'tick' }, { name: 'tick' }] }],
  });

const roots: Record<string, () => Agent> = {
  'an agent with tools': () => ticker('root'),
  'an agent with callbacks': () =>
    llmAgent({
      name: 'root',
      tools: [tick],
      script: [{ after: 'tick', text: 'done' }, { calls: [{ name: 'tick' }] }],
      beforeAgent: ({ context: { state } }) => state.set('begun', state.get<number>('begun', 0) + 1),
    }),
  'a sequence': () => sequentialAgent({ name: 'root', subAgents: [speaker('a'), ticker('b'), speaker('c')] }),
  'nested sequences': () =>
    sequentialAgent({
      name: 'root',
      subAgents: [sequentialAgent({ name: 'inner', subAgents: [ticker('a'), ticker('b')] }), ticker('c')],
    }),
  'a loop of several': () => loopAgent({ name: 'root', subAgents: [ticker('a'), speaker('b')], maxIterations: 3 }),
  'a loop of one': () => loopAgent({ name: 'root', subAgents: [ticker('a')], maxIterations: 3 }),
  'a loop that is left': () =>
    loopAgent({
      name: 'root',
      subAgents: [
        speaker('a'),
        llmAgent({ name: 'b', tools: [exitLoop], script: [{ calls: [{ name: 'exit_loop' }] }] }),
        speaker('c'),
      ],
    }),
  'a team': () =>
    llmAgent({
      name: 'root',
      script: [{ calls: [{ name: 'transfer_to_agent', args: { agent_name: 'helper' } }] }],
      subAgents: [ticker('helper')],
    }),
  'a sequence with a team in it': () =>
    sequentialAgent({ name: 'root', subAgents: [roots['a team']!().subAgents![0]!, speaker('z')] }),
};

/** The stored history of one turn that is broken off after `count` events and then continued. */
async function brokenOff(root: Agent, count: number): Promise<{ history: string[]; seen: number }> {
  const conversation = new Conversation(root);
  let seen = 0;
  let invocationId = '';
  for await (const event of conversation.stream('go')) {
    seen += 1;
    ({ invocationId } = event);
    if (seen === count) break;
  }
  if (seen === count) await conversation.send(undefined, { invocationId, context: { continuing: true } });
  return { history: summary(conversation.session!.events), seen };
}

it.each(Object.keys(roots))('continues %s wherever it was broken off, as if nothing had happened', async (kind) => {
  const make = roots[kind]!;
  const { history: whole, seen: length } = await brokenOff(make(), 1_000);

  expect(length).toBeGreaterThan(1);
  for (let count = 1; count < length; count += 1) expect((await brokenOff(make(), count)).history).toEqual(whole);
});

it('continues the branches of a parallel agent that are not done', async () => {
  const make = (): Agent => parallelAgent({ name: 'root', subAgents: [ticker('a'), speaker('b'), ticker('c')] });
  const { history: whole, seen: length } = await brokenOff(make(), 1_000);

  for (let count = 1; count < length; count += 1) {
    expect((await brokenOff(make(), count)).history.toSorted()).toEqual(whole.toSorted());
  }
});

it('asks the model again that failed before', async () => {
  let calls = 0;
  const flaky: Model = {
    name: 'flaky',
    async *generate() {
      calls += 1;
      if (calls === 1) throw new Error('down');
      yield text('up again');
    },
  };
  const conversation = new Conversation(llmAgent({ name: 'a', model: flaky }));
  await expect(conversation.send('go')).rejects.toThrow('down');
  const { invocationId } = conversation.session!.events.at(-1)!;

  expect(summary(await conversation.send(undefined, { invocationId, context: { continuing: true } }))).toEqual([
    'a: up again',
  ]);
});

it('does not take an agent that acted in an earlier turn for one that has begun', async () => {
  const root = sequentialAgent({ name: 'root', subAgents: [speaker('a'), speaker('b')] });
  const conversation = new Conversation(root);
  await conversation.send('one');

  expect(summary(await conversation.send('two', { context: { continuing: true } }))).toEqual([
    'a: a speaks',
    'b: b speaks',
  ]);
});
