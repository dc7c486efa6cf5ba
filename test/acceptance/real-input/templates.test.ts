import { expect, it } from 'vitest';
import { systemText } from '../../support/gemini-request.ts';
import { openBed } from './bed.ts';
import { textOf } from './conversation.ts';

const agent = (name: string, instruction: string): Record<string, Record<string, unknown>> => ({
  'root_agent.yaml': { name, model: 'gemini-2.5-flash', instruction },
});
const bed = await openBed({
  scopes: agent('scopes', 'Name {name}, team {app:team}, tongue {user:tongue}, mood {mood?}, {{name}}, { name }.'),
  values: agent('values', 'N {count}; O {profile}; L {tags}; B {flag}; Z {nothing?}.'),
  literal: agent('literal', 'Answer as {"city": "…", "size": 1} or {a b} or {x:name} or {} for {name}.'),
  missing: agent('missing', 'Say {who_is_it}.'),
  artifact: agent('artifact', 'Rules: {artifact.rules.txt} Notes: {artifact.notes.txt?}.'),
  remember: {
    'root_agent.yaml': {
      name: 'remember',
      model: 'gemini-2.5-flash',
      instruction: 'So far: {draft?}',
      output_key: 'draft',
    },
  },
});

const system = (at = 0): string => systemText(bed.double.bodies[at]!);

it('fills in state of every scope; an optional name that is missing is empty', async () => {
  bed.double.answer(() => 'ok');
  const chat = await bed.chat('scopes', { state: { name: 'Ann', 'app:team': 'red', 'user:tongue': 'French' } });

  await chat.say('hi');

  expect(system()).toBe('Name Ann, team red, tongue French, mood , Ann, Ann.');
});

it('writes text as it is and other values as JSON', async () => {
  bed.double.answer(() => 'ok');
  const chat = await bed.chat('values', {
    state: { count: 3, profile: { a: [1, 2] }, tags: ['x', 'y'], flag: false, nothing: null },
  });

  await chat.say('hi');

  expect(system()).toBe('N 3; O {"a":[1,2]}; L ["x","y"]; B false; Z .');
});

it('leaves braces that hold no name as they are', async () => {
  bed.double.answer(() => 'ok');
  const chat = await bed.chat('literal', { state: { name: 'Ann' } });

  await chat.say('hi');

  expect(system()).toBe('Answer as {"city": "…", "size": 1} or {a b} or {x:name} or {} for Ann.');
});

it('does not fill in what a value itself holds', async () => {
  bed.double.answer(() => 'ok');
  const chat = await bed.chat('scopes', {
    state: { name: '{app:team}', 'app:team': '{name}', 'user:tongue': '$& $1' },
  });

  await chat.say('hi');

  expect(system()).toBe('Name {app:team}, team {name}, tongue $& $1, mood , {app:team}, {app:team}.');
});

it('sees the state that comes with the message', async () => {
  bed.double.answer(() => 'ok');
  const state = { name: 'Ann', 'app:team': 'red', 'user:tongue': 'French' };
  const chat = await bed.chat('scopes', { state });

  await chat.say('hi', { stateDelta: { name: 'Bob', mood: 'fine' } });

  expect(system()).toBe('Name Bob, team red, tongue French, mood fine, Bob, Bob.');
  expect((await chat.session()).state).toMatchObject({ name: 'Bob', mood: 'fine' });
});

it('fails the run before the model is asked when a name is missing, and names it', async () => {
  const chat = await bed.chat('missing');

  const { status, headers, body } = await chat.run('hi');

  expect(status).toBeGreaterThanOrEqual(400);
  expect(headers.get('content-type')).toContain('application/problem+json');
  expect(body).toMatchObject({ status, detail: expect.stringContaining('who_is_it') });
  expect(bed.double.requests).toEqual([]);
});

it('fills in the text of an artifact', async () => {
  bed.double.answer(() => 'ok');
  const chat = await bed.chat('artifact');
  const saved = await bed.server.fetchJson(`${chat.path}/artifacts`, {
    json: { filename: 'rules.txt', artifact: { text: 'Be kind.' } },
  });
  expect(saved.status).toBe(200);

  await chat.say('hi');

  expect(system()).toBe('Rules: Be kind. Notes: .');
});

it('stores the final text under the output key, without thoughts, for the next turn', async () => {
  bed.double.answerInTurn({ thought: 'hm', chunks: ['first ', 'draft'] }, 'second');
  const chat = await bed.chat('remember');

  const [event] = await chat.say('write');
  await chat.say('more');

  expect(textOf(event)).toBe('first draft');
  expect(event?.actions.stateDelta).toEqual({ draft: 'first draft' });
  expect([system(0), system(1)]).toEqual(['So far: ', 'So far: first draft']);
  expect((await chat.session()).state).toEqual({ draft: 'second' });
});
