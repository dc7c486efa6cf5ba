import { expect, it } from 'vitest';
import { systemText, transcript } from '../../support/gemini-request.ts';
import { type Conversation, outline, type WireSession } from '../real-input/conversation.ts';
import { openBed } from './bed.ts';
import { responsesIn } from './requests.ts';

const bed = await openBed();

async function branched(chat: Conversation, way: 'fork' | 'rewind', json: object): Promise<WireSession> {
  const { status, body, text } = await bed.server.fetchJson(`${chat.path}/${way}`, { json });
  if (status !== 200) throw new Error(text);
  return body as WireSession;
}

/** Has the agent save a value in one invocation, and gives its id. */
async function save(chat: Conversation, value: string): Promise<string> {
  bed.double.answerInTurn({ calls: [{ name: 'save', args: { value } }] }, `saved ${value}`);
  const events = await chat.say(`save ${value}`);
  return events[0]?.invocationId ?? '';
}

it('sums up every second turn for the model, and keeps the history', async () => {
  bed.double.answer(({ body }) => (systemText(body) === 'Talk.' ? 'heard' : 'SUMMARY'));
  const chat = await bed.chat('windowed');
  for (const text of ['one', 'two', 'three']) await chat.say(text);

  const asked = bed.double.bodies.filter((body) => systemText(body) === 'Talk.');
  expect(transcript(asked[2]!)).toEqual([expect.stringContaining('SUMMARY'), 'user: three']);
  expect(bed.double.requests).toHaveLength(4);
  const { events } = await chat.session();
  expect(outline(events.filter(({ content }) => content))).toEqual([
    'user: one',
    'windowed: heard',
    'user: two',
    'windowed: heard',
    'user: three',
    'windowed: heard',
  ]);
});

it('sums up early events once the prompt has grown too long', async () => {
  bed.double.answer(({ body }) => {
    if (systemText(body) !== 'Talk.') return 'SUMMARY';
    return { text: 'heard', usage: { promptTokenCount: 100, totalTokenCount: 105 } };
  });
  const chat = await bed.chat('limited');
  for (const text of ['one', 'two']) await chat.say(text);

  await chat.say('three');

  const last = bed.double.bodies.findLast((body) => systemText(body) === 'Talk.')!;
  expect(transcript(last)[0]).toContain('SUMMARY');
  expect(transcript(last).at(-1)).toBe('user: three');
  expect(transcript(last).join()).not.toContain('user: one');
});

it('goes back before an invocation: history, artifacts and the state that is the session\u2019s own', async () => {
  const chat = await bed.chat('remembering');
  await save(chat, 'first');
  const second = await save(chat, 'second');

  const session = await branched(chat, 'rewind', { invocationId: second });
  bed.double.answer(() => 'ok');
  await chat.say('what now?');

  expect(session.state).toMatchObject({ value: 'first', 'user:shared': 'second' });
  expect(transcript(bed.double.bodies.at(-1)!)).toEqual([
    'user: save first',
    expect.stringContaining('call save'),
    'user: response save {"saved":"first"}',
    'model: saved first',
    'user: what now?',
  ]);
  const { body } = await bed.server.fetchJson(`${chat.path}/artifacts/file.txt`);
  expect(body).toMatchObject({ text: 'first' });
});

it('forgets what the first invocation did when going back before it', async () => {
  const chat = await bed.chat('remembering', { state: { given: 1 } });
  const first = await save(chat, 'first');

  const session = await branched(chat, 'rewind', { invocationId: first });

  expect(session.state).toEqual({ given: 1, 'user:shared': 'first' });
  expect((await bed.server.fetchJson(`${chat.path}/artifacts/file.txt`)).status).toBe(404);
});

it.each(['rewind', 'fork'] as const)('answers a %s to something that is not there with 404', async (way) => {
  const chat = await bed.chat('remembering');

  const answers = await Promise.all([
    bed.server.fetchJson(`${chat.path}/${way}`, { json: { invocationId: 'e-none', eventId: 'none' } }),
    bed.server.fetchJson(`${chat.path}-none/${way}`, { json: { invocationId: 'e-none' } }),
  ]);

  expect(answers.map(({ status }) => status)).toEqual([404, 404]);
  expect(answers.map(({ body }) => (body as { code: string }).code)).toEqual(['event_not_found', 'session_not_found']);
});

it('copies a session up to an event, and lets both go their ways', async () => {
  const chat = await bed.chat('remembering');
  await save(chat, 'first');
  const at = (await chat.session()).events.at(-1)?.id;
  await save(chat, 'second');

  const fork = await branched(chat, 'fork', { eventId: at, sessionId: 'the-fork' });
  bed.double.answer(() => 'ok');
  await chat.say('on here');

  expect(fork).toMatchObject({ id: 'the-fork', state: { value: 'first' } });
  expect(fork.events).toHaveLength(4);
  const { body } = await bed.server.fetchJson(`${chat.path.replace(chat.sessionId, 'the-fork')}/artifacts/file.txt`);
  expect(body).toMatchObject({ text: 'first' });
  expect((await chat.session()).state).toMatchObject({ value: 'second' });
  const { status } = await bed.server.fetchJson(`${chat.path}/fork`, { json: { sessionId: 'the-fork' } });
  expect(status).toBe(409);
});

it('goes on with an invocation that broke off between two steps', async () => {
  const chat = await bed.chat('remembering');
  bed.double.answerInTurn({ calls: [{ name: 'save', args: { value: 'x' } }] }, { failure: { status: 400 } });
  expect((await chat.run('save x')).status).toBe(502);
  const { events: broken } = await chat.session();
  const invocationId = broken[0]?.invocationId;

  bed.double.answer(() => 'saved after all');
  const { status, body } = await bed.server.fetchJson('/run', {
    json: { appName: chat.app, userId: chat.userId, sessionId: chat.sessionId, invocationId },
  });

  expect(status).toBe(200);
  expect(outline(body as WireSession['events'])).toEqual(['remembering: saved after all']);
  expect((body as WireSession['events'])[0]?.invocationId).toBe(invocationId);
  expect(responsesIn((await chat.session()).events)).toEqual([{ saved: 'x' }]);
});

it('makes a session for a run only when asked to', async () => {
  bed.double.answer(() => 'hello');
  const newMessage = { role: 'user', parts: [{ text: 'hi' }] };
  const run = { appName: 'remembering', userId: 'u', sessionId: 'unmade', newMessage };

  const refused = await bed.server.fetchJson('/run', { json: run });
  const made = await bed.server.fetchJson('/run', { json: { ...run, runConfig: { autoCreateSession: true } } });

  expect([refused.status, made.status]).toEqual([404, 200]);
  const { body } = await bed.server.fetchJson('/apps/remembering/users/u/sessions/unmade');
  expect(outline((body as WireSession).events)).toEqual(['user: hi', 'remembering: hello']);
});
