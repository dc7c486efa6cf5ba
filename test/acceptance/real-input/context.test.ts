import { expect, it } from 'vitest';
import type { GeminiRequest } from '../../support/gemini-double.ts';
import { systemText, transcript } from '../../support/gemini-request.ts';
import { openBed } from './bed.ts';
import { outline } from './conversation.ts';

const llm = (name: string, more: Record<string, unknown> = {}): Record<string, unknown> => ({
  name,
  model: 'gemini-2.5-flash',
  instruction: `[${name}] Work.`,
  ...more,
});
const refs = (...files: string[]): object[] => files.map((file) => ({ config_path: `${file}.yaml` }));

const bed = await openBed({
  forgetful: { 'root_agent.yaml': llm('forgetful', { include_contents: 'none', tools: [{ name: 'load_memory' }] }) },
  relay: {
    'root_agent.yaml': { agent_class: 'SequentialAgent', name: 'relay', sub_agents: refs('first', 'second') },
    'first.yaml': llm('first', { tools: [{ name: 'load_memory' }] }),
    'second.yaml': llm('second', { include_contents: 'none' }),
  },
  inherits: {
    'root_agent.yaml': llm('top', { model: 'gemini-2.5-pro', sub_agents: refs('below') }),
    'below.yaml': { name: 'below', instruction: '[below] Work.', description: 'Below.' },
  },
  worldly: {
    'root_agent.yaml': llm('top', { global_instruction: 'Speak {tongue}.', sub_agents: refs('below') }),
    'below.yaml': llm('below', { description: 'Below.', global_instruction: 'Never seen.' }),
  },
  nested: {
    'root_agent.yaml': llm('top', { sub_agents: [{ config_path: './team/lead.yaml' }] }),
    'team/lead.yaml': llm('lead', { description: 'Leads.', sub_agents: refs('member') }),
    'team/member.yaml': llm('member', { description: 'Helps.' }),
  },
});

const speaker = (request: GeminiRequest): string => /\[(\w+)\]/.exec(systemText(request.body))?.[1] ?? '?';
const transferTo = (agent_name: string): object => ({ calls: [{ name: 'transfer_to_agent', args: { agent_name } }] });

it('shows an agent without history only the turn at hand, its own tool calls in it included', async () => {
  bed.double.answerInTurn('one', { calls: [{ name: 'load_memory', args: { query: 'q' } }] }, 'two');
  const chat = await bed.chat('forgetful');
  await chat.say('first question');

  await chat.say('second question');

  expect(transcript(bed.double.bodies[1]!)).toEqual(['user: second question']);
  expect(transcript(bed.double.bodies[2]!)).toEqual([
    'user: second question',
    'model: call load_memory({"query":"q"})',
    'user: response load_memory {"memories":[]}',
  ]);
  expect((await chat.session()).events).toHaveLength(6);
});

it('shows an agent without history what the agent before it said last', async () => {
  bed.double.answer((request) => `${speaker(request)} speaks`);

  await (await bed.chat('relay')).say('the question');

  const lines = transcript(bed.double.bodies[1]!);
  expect(lines).toHaveLength(1);
  expect(lines[0]).toMatch(/^user: .*first.*first speaks/s);
});

it("tells the tool calls of another agent as text, with the tool's name, arguments and result", async () => {
  bed.double.answer((request) => {
    if (speaker(request) === 'second' || request.body.contents?.length !== 1) return `${speaker(request)} speaks`;
    return { calls: [{ name: 'load_memory', args: { query: 'needle' } }] };
  });
  const chat = await bed.chat('relay');

  const events = await chat.say('the question');

  expect(outline(events)).toEqual([
    'first: call load_memory',
    'first: response load_memory',
    'first: first speaks',
    'second: second speaks',
  ]);
  expect(JSON.stringify(bed.double.bodies[2])).not.toMatch(/"functionCall"|"functionResponse"/);
});

it('lets a child without a model use that of its parent', async () => {
  bed.double.answerInTurn(transferTo('below'), 'here');

  const events = await (await bed.chat('inherits')).say('go');

  expect(bed.double.requests.map((request) => request.model)).toEqual(['gemini-2.5-pro', 'gemini-2.5-pro']);
  expect(outline(events).at(-1)).toBe('below: here');
});

it("puts the root's global instruction, filled in, before the own one of every agent", async () => {
  bed.double.answerInTurn(transferTo('below'), 'here');
  const chat = await bed.chat('worldly', { state: { tongue: 'Latin' } });

  await chat.say('go');

  expect(systemText(bed.double.bodies[0]!)).toMatch(/^Speak Latin\.\n\n\[top\] Work\./);
  expect(systemText(bed.double.bodies[1]!)).toMatch(/^Speak Latin\.\n\n\[below\] Work\./);
  expect(systemText(bed.double.bodies[1]!)).not.toContain('Never seen');
});

it('finds sub-agents relative to the file that names them', async () => {
  bed.double.answerInTurn(transferTo('lead'), transferTo('member'), 'helped');

  const events = await (await bed.chat('nested')).say('go');

  expect(bed.double.requests.map(speaker)).toEqual(['top', 'lead', 'member']);
  expect(outline(events).at(-1)).toBe('member: helped');
});

it('keeps the history whole when runs of one session arrive at once', async () => {
  bed.double.answer((request) => ({ text: `re: ${transcript(request.body).at(-1)}`, delayMs: 5 }));
  const chat = await bed.chat('inherits');

  const answers = await Promise.all(['a', 'b', 'c', 'd'].map((message) => chat.say(message)));

  const stored = outline((await chat.session()).events);
  expect(stored).toHaveLength(8);
  for (const [at, message] of ['a', 'b', 'c', 'd'].entries()) {
    expect(outline(answers[at]!)).toEqual([`top: re: user: ${message}`]);
    expect(stored[stored.indexOf(`user: ${message}`) + 1]).toBe(`top: re: user: ${message}`);
  }
});
