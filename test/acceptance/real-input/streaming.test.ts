import { expect, it } from 'vitest';
import { transcript } from '../../support/gemini-request.ts';
import { openBed } from './bed.ts';
import { outline, textOf, type WireEvent } from './conversation.ts';

const bed = await openBed({
  plain: { 'root_agent.yaml': { name: 'plain', model: 'gemini-2.5-flash', instruction: 'Be brief.' } },
  helped: {
    'root_agent.yaml': {
      name: 'helped',
      model: 'gemini-2.5-flash',
      instruction: 'Use your memory.',
      tools: [{ name: 'load_memory' }],
    },
  },
});

const partials = (events: readonly WireEvent[]): WireEvent[] => events.filter((event) => event.partial);
const wholes = (events: readonly WireEvent[]): WireEvent[] => events.filter((event) => !event.partial);

it('streams each piece as a partial event, then one whole event, and stores only that', async () => {
  bed.double.answer(() => ({ chunks: ['Hel', 'lo ', 'Ann'] }));
  const chat = await bed.chat('plain');

  const events = await chat.stream('hi');

  expect(bed.double.requests[0]!.streaming).toBe(true);
  expect(events.map((event) => [event.partial ?? false, textOf(event)])).toEqual([
    [true, 'Hel'],
    [true, 'lo '],
    [true, 'Ann'],
    [false, 'Hello Ann'],
  ]);
  expect(events.at(-1)).toMatchObject({
    author: 'plain',
    content: { role: 'model', parts: [{ text: 'Hello Ann' }] },
    finishReason: 'STOP',
    usageMetadata: { totalTokenCount: 12 },
    modelVersion: 'gemini-2.5-flash',
  });
  expect(new Set(events.map((event) => event.invocationId)).size).toBe(1);
  const stored = (await chat.session()).events;
  expect(outline(stored)).toEqual(['user: hi', 'plain: Hello Ann']);
  expect(stored[1]).toEqual(events.at(-1));
});

it('sends the next turn the whole answer once', async () => {
  bed.double.answer(() => ({ chunks: ['Hel', 'lo'] }));
  const chat = await bed.chat('plain');

  await chat.stream('hi');
  await chat.stream('again');

  expect(transcript(bed.double.bodies[1]!)).toEqual(['user: hi', 'model: Hello', 'user: again']);
});

it('shows a piece before the model has said the rest', async () => {
  const rest = Promise.withResolvers<void>();
  bed.double.answer(() => ({ chunks: ['now', 'later'], pause: rest.promise }));
  const stream = await (await bed.chat('plain')).open('hi');

  const seen: string[] = [];
  for await (const frame of stream) {
    seen.push(textOf(frame.data as unknown as WireEvent));
    if (seen.length === 1) rest.resolve();
  }

  expect(seen).toEqual(['now', 'later', 'nowlater']);
});

it('writes each event as one frame of one line', async () => {
  bed.double.answer(() => ({ chunks: ['a\nb', '\u2028 ü "q"'] }));
  const stream = await (await bed.chat('plain')).open('hi');

  const frames = await Array.fromAsync(stream);

  expect(stream.status).toBe(200);
  expect(stream.headers.get('content-type')).toMatch(/^text\/event-stream/);
  expect(stream.raw.toString()).toBe(frames.map((frame) => `data: ${frame.json}\n\n`).join(''));
  expect(frames.map((frame) => JSON.stringify(frame.data))).toEqual(frames.map((frame) => frame.json));
  expect(textOf(frames.at(-1)?.data as unknown as WireEvent)).toBe('a\nb\u2028 ü "q"');
});

it('gives only whole events when streaming is off', async () => {
  bed.double.answer(() => ({ chunks: ['Hel', 'lo'] }));

  const events = await (await bed.chat('plain')).stream('hi', { streaming: false });

  expect(events.map((event) => [event.partial, textOf(event)])).toEqual([[undefined, 'Hello']]);
});

it('keeps thoughts and text apart, and the signature on the part it came with', async () => {
  bed.double.answer(() => ({
    chunks: [
      [{ text: 'hm ', thought: true }],
      [{ text: 'well', thought: true }],
      'Yes',
      [{ text: '.', thoughtSignature: 'c2ln' }],
    ],
  }));
  const chat = await bed.chat('plain');

  const events = await chat.stream('hi');

  expect(partials(events).map((event) => event.content?.parts?.[0]?.thought ?? false)).toEqual([
    true,
    true,
    false,
    false,
  ]);
  expect(wholes(events)).toHaveLength(1);
  const parts = wholes(events)[0]?.content?.parts ?? [];
  expect(parts.filter((part) => part.thought).map((part) => part.text)).toEqual(['hm well']);
  expect(parts.filter((part) => !part.thought).map((part) => part.text)).toEqual(['Yes.']);
  expect(parts.at(-1)).toMatchObject({ thoughtSignature: 'c2ln' });
});

it('drops the empty piece a stream often ends with', async () => {
  bed.double.answer(() => ({ chunks: ['Hello', ''] }));

  const events = await (await bed.chat('plain')).stream('hi');

  expect(wholes(events).map((event) => event.content?.parts)).toEqual([[{ text: 'Hello' }]]);
  expect(partials(events).map(textOf)).toEqual(['Hello']);
});

it.each([true, false])(
  'runs the calls of a stream once, with the ids it showed (a frame each: %s)',
  async (callPerFrame) => {
    bed.double.answerInTurn(
      {
        text: 'Looking.',
        calls: [
          { name: 'load_memory', args: { query: 'a' } },
          { name: 'load_memory', args: { query: 'b' } },
        ],
        callPerFrame,
      },
      { chunks: ['Noth', 'ing.'] },
    );
    const chat = await bed.chat('helped');

    const events = await chat.stream('hi');

    expect(outline(wholes(events))).toEqual([
      'helped: Looking. | call load_memory | call load_memory',
      'helped: response load_memory | response load_memory',
      'helped: Nothing.',
    ]);
    const idsOf = (event: WireEvent | undefined): (string | undefined)[] =>
      (event?.content?.parts ?? []).flatMap((part) => {
        const id = (part.functionCall ?? part.functionResponse)?.id;
        return (part.functionCall ?? part.functionResponse) ? [id] : [];
      });
    const [calls, responses] = wholes(events);
    expect(new Set(idsOf(calls)).size).toBe(2);
    expect(idsOf(calls)).toEqual([expect.stringMatching(/^adk-/), expect.stringMatching(/^adk-/)]);
    expect(idsOf(responses)).toEqual(idsOf(calls));
    expect(partials(events).flatMap(idsOf)).toEqual(idsOf(calls));
    expect(bed.double.requests).toHaveLength(2);
  },
);

it('ends the model call, and starts no other, when the client leaves', async () => {
  bed.double.answer(() => ({ chunks: ['one', 'two'], broken: 'stall' }));
  const chat = await bed.chat('helped');
  const stream = await chat.open('hi');
  await stream[Symbol.asyncIterator]().next();

  stream.leave();
  await bed.double.requests[0]!.closed;
  bed.double.answer(() => 'fine');
  await chat.say('next');

  expect(bed.double.requests[0]!.clientLeft).toBe(true);
  expect(bed.double.requests).toHaveLength(2);
  expect(transcript(bed.double.bodies[1]!).at(-1)).toBe('user: next');
});

it('runs no tool and asks no model for a client that left before the model answered', async () => {
  const answer = Promise.withResolvers<void>();
  bed.double.answer(() => ({ calls: [{ name: 'load_memory', args: { query: 'a' } }], after: answer.promise }));
  const chat = await bed.chat('helped');
  const stream = await chat.open('hi');
  await bed.double.received(1);

  stream.leave();
  await bed.double.requests[0]!.closed;
  answer.resolve();
  bed.double.answer(() => 'fine');
  await chat.say('next');

  expect(bed.double.requests).toHaveLength(2);
  expect(outline((await chat.session()).events).join('\n')).not.toContain('load_memory');
});

it('goes on for a client that left but asked it to', async () => {
  const answer = Promise.withResolvers<void>();
  bed.double.answer(() => ({ text: 'done anyway', after: answer.promise }));
  const chat = await bed.chat('plain');
  const stream = await chat.open('hi', { onDisconnect: 'continue' });
  await bed.double.received(1);

  stream.leave();
  answer.resolve();
  await chat.say('next');

  expect(transcript(bed.double.bodies[1]!)).toEqual(['user: hi', 'model: done anyway', 'user: next']);
});
