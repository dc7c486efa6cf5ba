import { expect, it } from 'vitest';
import type { GeminiRequest } from '../../support/gemini-double.ts';
import { systemText, toolNames, transcript } from '../../support/gemini-request.ts';
import { openBed } from './bed.ts';
import { outline } from './conversation.ts';

const llm = (name: string, instruction: string, more: Record<string, unknown> = {}): Record<string, unknown> => ({
  name,
  model: 'gemini-2.5-flash',
  instruction: `[${name}] ${instruction}`,
  ...more,
});
const refs = (...files: string[]): object[] => files.map((file) => ({ config_path: `${file}.yaml` }));
const fan = { agent_class: 'ParallelAgent', name: 'fan', sub_agents: refs('left', 'right') };
const sides = { 'left.yaml': llm('left', 'Go left.'), 'right.yaml': llm('right', 'Go right.') };

const bed = await openBed({
  pipeline: {
    'root_agent.yaml': { agent_class: 'SequentialAgent', name: 'pipeline', sub_agents: refs('writer', 'critic') },
    'writer.yaml': llm('writer', 'Write.', { output_key: 'draft' }),
    'critic.yaml': llm('critic', 'Judge: {draft}'),
  },
  fan: { 'root_agent.yaml': fan, ...sides },
  gather: {
    'root_agent.yaml': { agent_class: 'SequentialAgent', name: 'gather', sub_agents: refs('fan', 'merge') },
    'fan.yaml': fan,
    ...sides,
    'merge.yaml': llm('merge', 'Merge.'),
  },
  deep: {
    'root_agent.yaml': { agent_class: 'ParallelAgent', name: 'deep', sub_agents: refs('chain', 'solo') },
    'chain.yaml': { agent_class: 'SequentialAgent', name: 'chain', sub_agents: refs('left', 'right') },
    ...sides,
    'solo.yaml': llm('solo', 'Alone.'),
  },
  rounds: {
    'root_agent.yaml': { agent_class: 'LoopAgent', name: 'rounds', max_iterations: 3, sub_agents: refs('step') },
    'step.yaml': llm('step', 'Step.'),
  },
  until: {
    'root_agent.yaml': {
      agent_class: 'LoopAgent',
      name: 'until',
      max_iterations: 9,
      sub_agents: refs('work', 'check', 'late'),
    },
    'work.yaml': llm('work', 'Work.'),
    'check.yaml': llm('check', 'Check.', { tools: [{ name: 'exit_loop' }] }),
    'late.yaml': llm('late', 'Late.'),
  },
});

const speaker = (request: GeminiRequest): string => /^\[(\w+)\]/.exec(systemText(request.body))?.[1] ?? '?';
const requestOf = (name: string, nth = 0): GeminiRequest =>
  bed.double.requests.filter((request) => speaker(request) === name)[nth]!;

it('runs children one after another, with what the first stored and said', async () => {
  bed.double.answer((request) => (speaker(request) === 'writer' ? 'a poem' : 'fine'));
  const chat = await bed.chat('pipeline');

  const events = await chat.say('write');

  expect(outline(events)).toEqual(['writer: a poem', 'critic: fine']);
  expect(events[0]?.actions.stateDelta).toEqual({ draft: 'a poem' });
  expect(systemText(bed.double.bodies[1]!)).toMatch(/^\[critic\] Judge: a poem/);
  const lines = transcript(bed.double.bodies[1]!);
  expect(lines[0]).toBe('user: write');
  expect(lines[1]).toMatch(/^user: .*writer.*a poem/s);
  expect(lines).toHaveLength(2);
});

it('starts the pipeline from its first child again on the next turn', async () => {
  bed.double.answer((request) => `${speaker(request)} speaks`);
  const chat = await bed.chat('pipeline');
  await chat.say('one');

  await chat.say('two');

  expect(bed.double.requests.map(speaker)).toEqual(['writer', 'critic', 'writer', 'critic']);
  const lines = transcript(bed.double.bodies[2]!);
  expect(lines[1]).toBe('model: writer speaks');
  expect(lines.at(-1)).toBe('user: two');
});

it('asks parallel children at the same time, each on its own branch', async () => {
  const both = Promise.withResolvers<void>();
  bed.double.answer((request) => ({ text: `${speaker(request)} speaks`, after: both.promise }));
  void bed.double.received(2).then(both.resolve);
  const chat = await bed.chat('fan');

  const events = await chat.say('go');

  expect(outline(events).toSorted()).toEqual(['left: left speaks', 'right: right speaks']);
  for (const event of events) expect(event.branch).toBe(`fan.${event.author}`);
  expect(transcript(requestOf('left').body)).toEqual(['user: go']);
  expect(transcript(requestOf('right').body)).toEqual(['user: go']);
});

it('hides from a parallel child what its sibling said first, also on the next turn', async () => {
  const leftIsDone = Promise.withResolvers<void>();
  bed.double.answer((request) =>
    speaker(request) === 'left' ? 'left secret' : { text: 'right secret', after: leftIsDone.promise },
  );
  const chat = await bed.chat('fan');
  const stream = await chat.open('go');
  for await (const frame of stream) if (frame.data['author'] === 'left' && !frame.data['partial']) leftIsDone.resolve();

  await chat.say('again');

  expect(transcript(requestOf('right', 1).body)).toEqual(['user: go', 'model: right secret', 'user: again']);
  expect(transcript(requestOf('left', 1).body)).toEqual(['user: go', 'model: left secret', 'user: again']);
});

it('shows what all parallel children said to the agent that comes after them', async () => {
  bed.double.answer((request) => `${speaker(request)} speaks`);

  const events = await (await bed.chat('gather')).say('go');

  expect(outline(events).at(-1)).toBe('merge: merge speaks');
  expect(events.at(-1)).not.toHaveProperty('branch');
  const lines = transcript(requestOf('merge').body);
  expect(lines[0]).toBe('user: go');
  expect(lines.join('\n')).toMatch(/left speaks/);
  expect(lines.join('\n')).toMatch(/right speaks/);
  expect(lines.every((line) => line.startsWith('user: '))).toBe(true);
});

it('lets the steps of a chain see each other inside a parallel branch, and nobody else', async () => {
  const soloIsDone = Promise.withResolvers<void>();
  bed.double.answer((request) =>
    speaker(request) === 'solo' ? 'solo speaks' : { text: `${speaker(request)} speaks`, after: soloIsDone.promise },
  );
  const stream = await (await bed.chat('deep')).open('go');
  for await (const frame of stream) if (frame.data['author'] === 'solo' && !frame.data['partial']) soloIsDone.resolve();

  const right = transcript(requestOf('right').body).join('\n');

  expect(right).toContain('left speaks');
  expect(right).not.toContain('solo speaks');
});

it('repeats a loop as often as it may, each time with a user turn at the end', async () => {
  bed.double.answer((request) => `step ${request.index + 1}`);

  const events = await (await bed.chat('rounds')).say('go');

  expect(outline(events)).toEqual(['step: step 1', 'step: step 2', 'step: step 3']);
  const lines = transcript(bed.double.bodies[2]!);
  expect(lines.filter((line) => line.startsWith('model: '))).toEqual(['model: step 1', 'model: step 2']);
  expect(lines.at(-1)).toMatch(/^user: \S/);
});

it('leaves a loop when a child calls exit_loop, without asking any model again', async () => {
  let checks = 0;
  bed.double.answer((request) => {
    if (speaker(request) !== 'check') return `${speaker(request)} done`;
    checks += 1;
    return checks < 2 ? 'not yet' : { calls: [{ name: 'exit_loop' }] };
  });

  const events = await (await bed.chat('until')).say('go');

  expect(bed.double.requests.map(speaker)).toEqual(['work', 'check', 'late', 'work', 'check']);
  expect(outline(events).slice(-2)).toEqual(['check: call exit_loop', 'check: response exit_loop']);
  expect(events.at(-1)?.actions).toMatchObject({ escalate: true, skipSummarization: true });
  expect(toolNames(requestOf('check').body)).toContain('exit_loop');
});

it('offers no hand-over between the children of a workflow', async () => {
  bed.double.answer(() => 'ok');

  await (await bed.chat('pipeline')).say('go');

  for (const body of bed.double.bodies) expect(toolNames(body)).toEqual([]);
});
