import { expect, it } from 'vitest';
import type { GeminiReply } from '../../support/gemini-replies.ts';
import { apiKey, openBed } from './bed.ts';
import { outline } from './conversation.ts';

const bed = await openBed({
  plain: { 'root_agent.yaml': { name: 'plain', model: 'gemini-2.5-flash', instruction: 'Work.' } },
});

const failures: [string, GeminiReply][] = [
  ['400', { failure: { status: 400, message: 'The request is not right.' } }],
  ['401', { failure: { status: 401, message: 'Request had invalid authentication credentials.' } }],
  ['403', { failure: { status: 403, message: 'Not with this project.' } }],
  ['404', { failure: { status: 404, message: 'models/gemini-2.5-flash is not found' } }],
  ['429', { failure: { status: 429, message: 'You exceeded your current quota.', retryAfter: 0 } }],
  ['500', { failure: { status: 500, message: 'An internal error has occurred.', retryAfter: 0 } }],
  ['503', { failure: { status: 503, message: 'The model is overloaded.', retryAfter: 0 } }],
  ['a reset connection', { brokenAtOnce: 'reset' }],
];

it.each(failures)(
  'answers %s of the model with a problem, and stores the failure as an event',
  async (_title, reply) => {
    bed.double.answer(() => reply);
    const chat = await bed.chat('plain');

    const { status, headers, body } = await chat.run('hi');

    expect([429, 502, 503, 504]).toContain(status);
    expect(headers.get('content-type')).toContain('application/problem+json');
    expect(body).toMatchObject({
      type: expect.any(String),
      title: expect.any(String),
      status,
      detail: expect.stringMatching(/\S/),
      instance: '/run',
      code: expect.any(String),
    });
    expect(body).toHaveProperty('error', (body as { detail: string }).detail);
    const { events } = await chat.session();
    expect(events).toHaveLength(2);
    expect(events[1]).toMatchObject({
      author: 'plain',
      errorCode: expect.stringMatching(/\S/),
      errorMessage: expect.stringMatching(/\S/),
    });
  },
);

it.each(failures.slice(0, -1))(
  'ends a stream after %s of the model with the event and an error frame',
  async (_title, reply) => {
    bed.double.answer(() => reply);
    const chat = await bed.chat('plain');
    const stream = await chat.open('hi');

    const frames = await stream.all();

    expect(stream.status).toBe(200);
    expect(frames).toHaveLength(2);
    expect(frames[0]).toMatchObject({ author: 'plain', errorCode: expect.stringMatching(/\S/) });
    expect(frames[0]).not.toHaveProperty('error');
    expect(frames[1]).toMatchObject({
      error: expect.stringMatching(/\S/),
      errorCode: expect.stringMatching(/\S/),
      errorMessage: expect.stringMatching(/\S/),
    });
  },
);

const broken: [string, GeminiReply][] = [
  ['cut inside a frame', { chunks: ['one', 'two'], broken: 'cut' }],
  ['half closed', { chunks: ['one', 'two'], broken: 'half-close' }],
  ['ended by an error frame', { chunks: ['one'], failureInStream: { status: 503, message: 'Overloaded.' } }],
];

it.each(broken)('shows what came of a model stream that is %s, then the failure', async (_title, reply) => {
  bed.double.answer(() => reply);
  const chat = await bed.chat('plain');

  const frames = await (await chat.open('hi')).all();

  expect(frames[0]).toMatchObject({ partial: true, content: { parts: [{ text: 'one' }] } });
  expect(frames.at(-1)).toMatchObject({ error: expect.stringMatching(/\S/) });
  const stored = outline((await chat.session()).events);
  expect(stored[0]).toBe('user: hi');
  expect(stored.at(-1)).toMatch(/error \S/);
});

it('goes on with the conversation after a failure', async () => {
  bed.double.answer(() => ({ failure: { status: 400, message: 'No.' } }));
  const chat = await bed.chat('plain');
  await chat.run('one');
  bed.double.answer(() => 'better');

  const events = await chat.say('two');

  expect(outline(events)).toEqual(['plain: better']);
});

it('never shows a key that the model puts in its error', async () => {
  const message = `API key not valid: ${apiKey}. See https://example.com/v1?key=${apiKey} (x-goog-api-key: ${apiKey})`;
  bed.double.answer(() => ({ failure: { status: 400, message } }));
  const chat = await bed.chat('plain');

  const answer = await chat.run('one');
  const stream = await chat.open('two');
  await stream.all();
  const session = await bed.server.fetchJson(chat.path);
  const trace = await bed.server.fetchJson(`/debug/trace/session/${chat.sessionId}`);

  for (const text of [answer.text, stream.raw.toString(), session.text, trace.text, bed.server.stderr]) {
    expect(text).not.toContain(apiKey);
  }
  expect(answer.text).toContain('API key not valid');
});

it('shows no stack, path or provider JSON in an error', async () => {
  bed.double.answer(() => ({ failure: { status: 400, message: 'Boom.' } }));

  const { text, body } = await (await bed.chat('plain')).run('hi');

  expect(text).not.toMatch(/node_modules|\.ts:|\.mjs:|\bat \w+ \(/);
  expect((body as { detail: string }).detail).toContain('Boom.');
  expect((body as { detail: string }).detail).not.toContain('{');
});
