import { expect, it } from 'vitest';
import type { GeminiRequest } from '../../support/gemini-double.ts';
import type { GeminiReply } from '../../support/gemini-replies.ts';
import {
  declarations,
  lastResponses,
  lastText,
  parameterNames,
  systemText,
  toolNames,
  transcript,
} from '../../support/gemini-request.ts';
import { openBed } from './bed.ts';
import { outline } from './conversation.ts';

const llm = (name: string, more: Record<string, unknown> = {}): Record<string, unknown> => ({
  name,
  model: 'gemini-2.5-flash',
  description: `Knows ${name} things.`,
  instruction: `You are the ${name} expert.`,
  ...more,
});
const refs = (...files: string[]): object[] => files.map((file) => ({ config_path: `${file}.yaml` }));

const bed = await openBed({
  school: {
    'root_agent.yaml': llm('desk', { sub_agents: refs('maths', 'history') }),
    'maths.yaml': llm('maths', { sub_agents: refs('algebra') }),
    'algebra.yaml': llm('algebra'),
    'history.yaml': llm('history'),
  },
  closed: {
    'root_agent.yaml': llm('desk', { sub_agents: refs('loner', 'homing', 'social') }),
    'loner.yaml': llm('loner', { disallow_transfer_to_parent: true, disallow_transfer_to_peers: true }),
    'homing.yaml': llm('homing', { disallow_transfer_to_peers: true }),
    'social.yaml': llm('social', { disallow_transfer_to_parent: true }),
  },
});

const transferTo = (agent_name: string): GeminiReply => ({
  calls: [{ name: 'transfer_to_agent', args: { agent_name } }],
});

/** Whose call this is, told by the instruction. */
const speaker = (request: GeminiRequest): string =>
  /You are the (\w+) expert/.exec(systemText(request.body))?.[1] ?? '?';

/** The names an agent may hand over to, from the declaration of the tool. */
function targets(request: GeminiRequest): string[] {
  const tool = declarations(request.body).find((one) => one.name === 'transfer_to_agent');
  const schema = (tool?.parameters ?? tool?.parametersJsonSchema) as
    | { properties?: { agent_name?: { enum?: string[] } } }
    | undefined;
  return (schema?.properties?.agent_name?.enum ?? []).toSorted();
}

it('tells the root who it is, whom it may hand over to, and how', async () => {
  bed.double.answer(() => 'hello');

  await (await bed.chat('school')).say('hi');

  const [request] = bed.double.requests;
  const system = systemText(request!.body);
  expect(system).toMatch(/^You are the desk expert\./);
  for (const text of [
    'desk',
    'Knows desk things.',
    'maths',
    'Knows maths things.',
    'history',
    'Knows history things.',
  ]) {
    expect(system).toContain(text);
  }
  expect(system).toContain('transfer_to_agent');
  expect(system).not.toContain('algebra');
  expect(system).not.toMatch(/[{}]/);
  expect(targets(request!)).toEqual(['history', 'maths']);
  const tool = declarations(request!.body).find((one) => one.name === 'transfer_to_agent')!;
  expect(parameterNames(tool)).toEqual(['agent_name']);
});

it('hands the turn over, and tells the other agent what happened as context of the user', async () => {
  bed.double.answerInTurn({ thought: 'not my field', ...transferTo('maths') }, 'four');
  const chat = await bed.chat('school');

  const events = await chat.say('2+2?');

  expect(outline(events)).toEqual([
    'desk: thought not my field | call transfer_to_agent',
    'desk: response transfer_to_agent',
    'maths: four',
  ]);
  expect(events[1]?.actions.transferToAgent).toBe('maths');
  expect(new Set(events.map((event) => event.invocationId)).size).toBe(1);
  const contents = bed.double.bodies[1]!.contents ?? [];
  expect(contents.map((content) => content.role)).toEqual(['user', 'user', 'user']);
  expect(contents[0]?.parts).toEqual([{ text: '2+2?' }]);
  const narrated = JSON.stringify(contents.slice(1));
  expect(narrated).toContain('desk');
  expect(narrated).toContain('transfer_to_agent');
  expect(narrated).toContain(JSON.stringify('{"agent_name":"maths"}').slice(1, -1));
  expect(narrated).not.toContain('not my field');
  expect(narrated).not.toMatch(/"functionCall"|"functionResponse"|"thought"|adk-/);
});

it('gives the other agent its own instruction, identity and targets: children, parent and peers', async () => {
  bed.double.answerInTurn(transferTo('maths'), 'four');

  await (await bed.chat('school')).say('2+2?');

  const request = bed.double.requests[1]!;
  const system = systemText(request.body);
  expect(system).toMatch(/^You are the maths expert\./);
  expect(system).not.toContain('You are the desk expert.');
  expect(system).toContain('Knows algebra things.');
  expect(targets(request)).toEqual(['algebra', 'desk', 'history']);
});

it('sends the next turn of the user to the agent that has the conversation', async () => {
  bed.double.answerInTurn(transferTo('maths'), 'four', 'six');
  const chat = await bed.chat('school');
  await chat.say('2+2?');

  const events = await chat.say('and 3+3?');

  expect(outline(events)).toEqual(['maths: six']);
  expect(speaker(bed.double.requests[2]!)).toBe('maths');
  const lines = transcript(bed.double.bodies[2]!);
  expect(lines.at(0)).toBe('user: 2+2?');
  expect(lines.slice(-2)).toEqual(['model: four', 'user: and 3+3?']);
});

it('hands over down, sideways and up again within one turn', async () => {
  const route: Record<string, string> = { maths: 'algebra', algebra: 'maths' };
  let toParent = false;
  bed.double.answer((request) => {
    const who = speaker(request);
    if (who === 'desk') return toParent ? 'back at the desk' : transferTo('maths');
    if (who === 'history') {
      toParent = true;
      return transferTo('desk');
    }
    if (who === 'maths' && bed.double.requests.length > 3) return transferTo('history');
    return transferTo(route[who]!);
  });

  const events = await (await bed.chat('school')).say('go');

  expect(bed.double.requests.map(speaker)).toEqual(['desk', 'maths', 'algebra', 'maths', 'history', 'desk']);
  expect(outline(events).at(-1)).toBe('desk: back at the desk');
});

it('shows an agent its own earlier turns as the model and all others as context', async () => {
  bed.double.answerInTurn(transferTo('maths'), transferTo('desk'), 'I am the desk');
  const chat = await bed.chat('school');

  await chat.say('2+2?');

  const lines = transcript(bed.double.bodies[2]!);
  expect(lines[1]).toBe('model: call transfer_to_agent({"agent_name":"maths"})');
  expect(lines[2]).toMatch(/^user: response transfer_to_agent/);
  expect(lines.slice(3).every((line) => line.startsWith('user: ') && !line.includes('user: call'))).toBe(true);
  expect(lines.slice(3).join('\n')).toContain('maths');
});

it('tells the model about a name it may not hand over to', async () => {
  bed.double.answerInTurn(transferTo('nobody'), 'then I answer');
  const chat = await bed.chat('school');

  const events = await chat.say('go');

  expect(lastResponses(bed.double.bodies[1]!)).toMatchObject([
    { name: 'transfer_to_agent', response: { error: expect.stringContaining('nobody') } },
  ]);
  expect(outline(events).at(-1)).toBe('desk: then I answer');
});

it('offers neither tool nor instruction to an agent that may go nowhere, and gives the next turn to the root', async () => {
  bed.double.answerInTurn(transferTo('loner'), 'alone', 'the desk again');
  const chat = await bed.chat('closed');

  await chat.say('go');
  const events = await chat.say('and now?');

  expect(toolNames(bed.double.bodies[1]!)).toEqual([]);
  expect(systemText(bed.double.bodies[1]!)).toBe('You are the loner expert.');
  expect(outline(events)).toEqual(['desk: the desk again']);
});

it('offers only the parent, or only the peers, as the flags say', async () => {
  bed.double.answerInTurn(transferTo('homing'), 'a', transferTo('social'), 'b');
  await (await bed.chat('closed')).say('one');
  await (await bed.chat('closed')).say('two');

  expect(targets(bed.double.requests[1]!)).toEqual(['desk']);
  expect(targets(bed.double.requests[3]!)).toEqual(['homing', 'loner']);
});

it('streams across a hand-over', async () => {
  bed.double.answerInTurn(transferTo('history'), { chunks: ['in ', '1066'] });
  const chat = await bed.chat('school');

  const events = await chat.stream('when?');

  expect(outline(events.filter((event) => event.author === 'history'))).toEqual([
    'history: in ',
    'history: 1066',
    'history: in 1066',
  ]);
  expect(outline((await chat.session()).events).at(-1)).toBe('history: in 1066');
  expect(lastText(bed.double.bodies[1]!)).not.toBe('');
});
