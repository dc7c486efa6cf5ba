import { expect, it } from 'vitest';
import {
  declarations,
  lastResponses,
  parameterNames,
  systemText,
  toolNames,
  transcript,
} from '../../support/gemini-request.ts';
import { openBed } from './bed.ts';
import { outline } from './conversation.ts';

const agent = (name: string, ...tools: string[]): Record<string, Record<string, unknown>> => ({
  'root_agent.yaml': {
    name,
    model: 'gemini-2.5-flash',
    instruction: 'Use your tools.',
    tools: tools.map((tool) => ({ name: tool })),
  },
});
const bed = await openBed({
  helped: agent('helped', 'load_memory', 'load_artifacts', 'exit_loop'),
  searching: agent('searching', 'google_search', 'url_context'),
  asking: agent('asking', 'get_user_choice'),
});

it('declares every function once, with the parameters it takes, in the order of the file', async () => {
  bed.double.answer(() => 'ok');

  await (await bed.chat('helped')).say('hi');

  const declared = declarations(bed.double.bodies[0]!);
  expect(bed.double.bodies[0]!.tools).toHaveLength(1);
  expect(declared.map((one) => one.name)).toEqual(['load_memory', 'load_artifacts', 'exit_loop']);
  expect(declared.map(parameterNames)).toEqual([['query'], ['artifact_names'], []]);
  expect(declared.every((one) => (one.description ?? '').length > 0)).toBe(true);
});

it('adds the tools of the provider as entries of their own', async () => {
  bed.double.answer(() => ({ text: 'found', candidate: { groundingMetadata: { webSearchQueries: ['x'] } } }));

  const [event] = await (await bed.chat('searching')).say('look up x');

  expect(toolNames(bed.double.bodies[0]!).toSorted()).toEqual(['googleSearch', 'urlContext']);
  expect(event).toMatchObject({ groundingMetadata: { webSearchQueries: ['x'] } });
});

it('answers parallel calls in one user turn right after them, in the order of the calls', async () => {
  bed.double.answerInTurn(
    {
      calls: [
        { name: 'load_memory', args: { query: 'first' } },
        { name: 'load_artifacts', args: { artifact_names: [] } },
        { name: 'load_memory', args: { query: 'second' } },
      ],
    },
    'done',
  );
  const chat = await bed.chat('helped');

  const events = await chat.say('go');

  expect(outline(events)).toEqual([
    'helped: call load_memory | call load_artifacts | call load_memory',
    'helped: response load_memory | response load_artifacts | response load_memory',
    'helped: done',
  ]);
  expect(events[1]?.content?.role).toBe('user');
  const contents = bed.double.bodies[1]!.contents ?? [];
  expect(contents.slice(0, 3).map((content) => content.role)).toEqual(['user', 'model', 'user']);
  const responses = (contents[2]?.parts ?? []).map((part) => part.functionResponse?.name);
  expect(responses).toEqual(['load_memory', 'load_artifacts', 'load_memory']);
  expect(contents[2]?.parts?.[0]?.functionResponse?.response).toEqual({ memories: [] });
});

it('gives calls without an id one of ours, which the model never sees', async () => {
  bed.double.answerInTurn({ calls: [{ name: 'load_memory', args: { query: 'a' } }] }, 'done', 'again');
  const chat = await bed.chat('helped');

  const [calls, responses] = await chat.say('go');
  await chat.say('more');

  const id = calls?.content?.parts?.[0]?.functionCall?.id;
  expect(id).toMatch(/^adk-/);
  expect(responses?.content?.parts?.[0]?.functionResponse?.id).toBe(id);
  for (const body of bed.double.bodies) expect(JSON.stringify(body)).not.toContain('adk-');
});

it('keeps the ids and the signatures the model gave', async () => {
  bed.double.answerInTurn(
    {
      calls: [
        { name: 'load_memory', args: { query: 'a' }, id: 'call-7' },
        { name: 'load_memory', args: { query: 'b' }, id: 'call-8' },
      ],
      thoughtSignature: 'c2lnbmF0dXJl',
    },
    'done',
  );

  await (await bed.chat('helped')).say('go');

  const [, calls, responses] = bed.double.bodies[1]!.contents ?? [];
  expect(calls?.parts?.map((part) => [part.functionCall?.id, part.thoughtSignature])).toEqual([
    ['call-7', 'c2lnbmF0dXJl'],
    ['call-8', undefined],
  ]);
  expect(responses?.parts?.map((part) => part.functionResponse?.id)).toEqual(['call-7', 'call-8']);
});

it('tells the model about a tool that does not exist and about arguments that do not fit', async () => {
  bed.double.answerInTurn(
    {
      calls: [
        { name: 'launch_rocket', args: {} },
        { name: 'load_memory', args: { query: 5 } },
        { name: 'load_memory', args: { query: 'fine' } },
      ],
    },
    'sorry',
  );
  const chat = await bed.chat('helped');

  const events = await chat.say('go');

  const [unknown, misfit, fine] = lastResponses(bed.double.bodies[1]!);
  expect(unknown).toMatchObject({ name: 'launch_rocket', response: { error: expect.stringContaining('load_memory') } });
  expect(misfit).toMatchObject({ name: 'load_memory', response: { error: expect.stringContaining('query') } });
  expect(fine).toMatchObject({ name: 'load_memory', response: { memories: [] } });
  expect(outline(events).at(-1)).toBe('helped: sorry');
});

it('goes on through several rounds of calls in one turn', async () => {
  bed.double.answerInTurn(
    { calls: [{ name: 'load_memory', args: { query: 'a' } }] },
    { text: 'and', calls: [{ name: 'load_memory', args: { query: 'b' } }] },
    'done',
  );

  await (await bed.chat('helped')).say('go');

  expect(transcript(bed.double.bodies[2]!)).toEqual([
    'user: go',
    'model: call load_memory({"query":"a"})',
    'user: response load_memory {"memories":[]}',
    'model: and | call load_memory({"query":"b"})',
    'user: response load_memory {"memories":[]}',
  ]);
});

it('names the artifacts of the session and shows those the model asks for', async () => {
  bed.double.answerInTurn({ calls: [{ name: 'load_artifacts', args: { artifact_names: ['plan.txt'] } }] }, 'read');
  const chat = await bed.chat('helped');
  await bed.server.fetchJson(`${chat.path}/artifacts`, {
    json: { filename: 'plan.txt', artifact: { text: 'Dig a hole.' } },
  });

  await chat.say('go');

  expect(systemText(bed.double.bodies[0]!)).toContain('plan.txt');
  const contents = bed.double.bodies[1]!.contents ?? [];
  expect(contents[2]?.parts?.[0]?.functionResponse?.response).toEqual({ artifact_names: ['plan.txt'] });
  expect(contents.at(-1)?.role).toBe('user');
  expect(JSON.stringify(contents.at(-1))).toContain('Dig a hole.');
});

it('ends the turn at a call that the application answers, and goes on with that answer', async () => {
  bed.double.answerInTurn({ calls: [{ name: 'get_user_choice', args: { options: ['red', 'blue'] } }] }, 'blue it is');
  const chat = await bed.chat('asking');

  const events = await chat.say('choose');

  const call = events[0]?.content?.parts?.[0]?.functionCall;
  expect(outline(events)[0]).toBe('asking: call get_user_choice');
  expect(events.slice(1).every((event) => event.content === undefined)).toBe(true);
  expect(events[0]?.longRunningToolIds).toEqual([call?.id]);
  expect(bed.double.requests).toHaveLength(1);

  const answers = await chat.say([
    { functionResponse: { id: call?.id ?? '', name: 'get_user_choice', response: { result: 'blue' } } },
  ]);

  expect(outline(answers)).toEqual(['asking: blue it is']);
  expect(transcript(bed.double.bodies[1]!)).toEqual([
    'user: choose',
    'model: call get_user_choice({"options":["red","blue"]})',
    'user: response get_user_choice {"result":"blue"}',
  ]);
  expect(JSON.stringify(bed.double.bodies[1])).not.toContain('adk-');
});

it('pairs every call with a response also while the user talks instead of answering', async () => {
  const choice = { name: 'get_user_choice', args: { options: ['red', 'blue'] } };
  bed.double.answerInTurn({ calls: [choice, choice] }, 'take your time', 'noted');
  const chat = await bed.chat('asking');
  const [asked] = await chat.say('choose');
  const ids = (asked?.content?.parts ?? []).map((part) => part.functionCall?.id ?? '');

  await chat.say('let me think');
  await chat.say([{ functionResponse: { id: ids[1]!, name: 'get_user_choice', response: { result: 'blue' } } }]);

  expect(transcript(bed.double.bodies[1]!).at(-1)).toBe('user: let me think');
  const paired = bed.double.bodies
    .slice(1)
    .map((body) => body.contents?.[2]?.parts?.map((part) => part.functionResponse));
  expect(paired).toEqual([
    [expect.objectContaining({ name: 'get_user_choice' }), expect.objectContaining({ name: 'get_user_choice' })],
    [
      expect.objectContaining({ response: expect.not.objectContaining({ result: 'blue' }) }),
      { name: 'get_user_choice', response: { result: 'blue' } },
    ],
  ]);
});

it('refuses an answer to a call that nobody made', async () => {
  bed.double.answer(() => 'hello');
  const chat = await bed.chat('asking');
  await chat.say('hi');

  const { status, body } = await chat.run([
    { functionResponse: { id: 'adk-unknown', name: 'get_user_choice', response: {} } },
  ]);

  expect(status).toBe(400);
  expect(body).toMatchObject({ code: 'FunctionCallNotFound' });
  expect(bed.double.requests).toHaveLength(1);
});
