import type { Server } from '@modelcontextprotocol/server';
import { afterEach, expect, it } from 'vitest';
import { llmAgent } from '../../../src/agents/llm-agent.ts';
import type { Plugin } from '../../../src/core/runtime.ts';
import type { Content } from '../../../src/schemas/content.ts';
import { type Event, functionCalls, functionResponses } from '../../../src/schemas/event.ts';
import type { ScriptRule } from '../../../src/schemas/script.ts';
import type { McpToolsetSpec } from '../../../src/tools/mcp/connection/options.ts';
import { mcpToolset, type McpToolset } from '../../../src/tools/mcp/mcp-toolset.ts';
import { Conversation } from '../../support/fake-run.ts';
import { linkedServer, setTools, text, tool } from './linked-server.ts';

type Work = (server: Server) => Promise<string>;

const opened: McpToolset[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((toolset) => toolset.close()));
});

/** A conversation with an agent whose tool `book` does this work at a server. */
function bookingWith(work: Work, spec: Partial<McpToolsetSpec> = {}, more: { plugins?: Plugin[] } = {}): Conversation {
  const { connection } = linkedServer((server) =>
    setTools(server, {
      list: () => ({ tools: [tool('book')] }),
      call: async () => text(await work(server)),
    }),
  );
  const toolset = mcpToolset({ connection, name: 'travel', ...spec });
  opened.push(toolset);
  const script: ScriptRule[] = [
    { match: 'capital', text: 'Rome' },
    { match: 'book', calls: [{ name: 'book', args: {} }] },
    { after: 'book', text: 'All done.' },
  ];
  return new Conversation(llmAgent({ name: 'agent', model: 'scripted', script, tools: [toolset] }), more);
}

const askDate: Work = async (server) => {
  const { action, content } = await server.elicitInput({
    message: 'Which day?',
    requestedSchema: {
      type: 'object',
      properties: { day: { type: 'string', minLength: 2 }, seats: { type: 'integer', default: 1 } },
      required: ['day'],
    },
  });
  return `${action} ${JSON.stringify(content ?? null)}`;
};

/** The request for the user's confirmation among the events. */
function request(events: readonly Event[]): { id: string; hint: string; payload: Record<string, unknown> } {
  const call = events.flatMap(functionCalls).find(({ name }) => name === 'adk_request_confirmation');
  const asked = call?.args?.['toolConfirmation'] as { hint: string; payload: Record<string, unknown> };
  return { id: call?.id ?? '', ...asked };
}

const answer = (id: string, response: Record<string, unknown>): Content => ({
  role: 'user',
  parts: [{ functionResponse: { id, name: 'adk_request_confirmation', response } }],
});

const booked = (events: readonly Event[]): unknown =>
  events.flatMap(functionResponses).find(({ name }) => name === 'book')?.response;
const said = (value: string): object => ({ content: [{ type: 'text', text: value }] });

it('puts a question of the server to the user, and runs the call again with the answer', async () => {
  const chat = bookingWith(askDate);

  const asking = await chat.send('book');
  const { id, hint, payload } = request(asking);
  const events = await chat.send(answer(id, { confirmed: true, payload: { content: { day: 'Monday' } } }));

  expect(hint).toBe('Which day?');
  expect(payload).toMatchObject({
    kind: 'elicitation',
    server: 'travel',
    message: 'Which day?',
    requestedSchema: { required: ['day'] },
    content: { seats: 1 },
  });
  expect(booked(asking)).toEqual({ error: 'The call waits for an answer of the user.' });
  expect(booked(events)).toEqual(said('accept {"day":"Monday","seats":1}'));
  expect(events.at(-1)?.content?.parts).toEqual([{ text: 'All done.' }]);
});

it('takes the fields by themselves, and as JSON text', async () => {
  const chat = bookingWith(askDate);

  const { id } = request(await chat.send('book'));
  const events = await chat.send(
    answer(id, { response: JSON.stringify({ confirmed: true, payload: { day: 'Friday', seats: 2 } }) }),
  );

  expect(booked(events)).toEqual(said('accept {"day":"Friday","seats":2}'));
});

it('tells the server when the user declines', async () => {
  const chat = bookingWith(askDate);

  const { id } = request(await chat.send('book'));

  expect(booked(await chat.send(answer(id, { confirmed: false })))).toEqual(said('decline null'));
});

it('asks again when an answer does not fit what the server asked for', async () => {
  const chat = bookingWith(askDate);

  const first = request(await chat.send('book'));
  const second = request(await chat.send(answer(first.id, { confirmed: true, payload: { content: { day: 'x' } } })));
  const events = await chat.send(answer(second.id, { confirmed: true, payload: { content: { day: 'Sunday' } } }));

  expect(second.hint).toMatch(/^Which day\?\nThe last answer does not fit: day: /);
  expect(booked(events)).toEqual(said('accept {"day":"Sunday","seats":1}'));
});

it('answers every question of a call that asks several, one after another', async () => {
  const chat = bookingWith(async (server) => `${await askDate(server)} and ${await askDate(server)}`);

  const first = request(await chat.send('book'));
  const second = request(await chat.send(answer(first.id, { confirmed: true, payload: { day: 'Monday' } })));
  const events = await chat.send(answer(second.id, { confirmed: true, payload: { day: 'Tuesday' } }));

  expect(booked(events)).toEqual(said('accept {"day":"Monday","seats":1} and accept {"day":"Tuesday","seats":1}'));
});

it('shows the user a page the server wants them to see', async () => {
  const url = 'https://pay.example.com/1';
  const chat = bookingWith(async (server) => {
    const { action } = await server.elicitInput({ mode: 'url', message: 'Pay first', url, elicitationId: 'e1' });
    return action;
  });

  const { id, hint, payload } = request(await chat.send('book'));

  expect(hint).toContain(url);
  expect(payload).toMatchObject({ url });
  expect(booked(await chat.send(answer(id, { confirmed: true })))).toEqual(said('accept'));
});

it('says that it answers no questions when it is told to', async () => {
  const chat = bookingWith(askDate, { elicitation: false });

  const events = await chat.send('book');

  expect(booked(events)).toMatchObject({ error: expect.stringMatching(/elicitation/) });
});

const askModel: Work = async (server) => {
  const content = { type: 'text' as const, text: 'What is the capital of Italy?' };
  const result = await server.createMessage({ messages: [{ role: 'user', content }], maxTokens: 50 });
  return JSON.stringify([result.model, result.content]);
};
const modelSaid = said('["scripted",{"type":"text","text":"Rome"}]');

it('lets the server use the model once the user agrees', async () => {
  const chat = bookingWith(askModel);

  const { id, hint, payload } = request(await chat.send('book'));
  const events = await chat.send(answer(id, { confirmed: true }));

  expect(hint).toContain('"travel" wants to use');
  expect(payload).toMatchObject({
    kind: 'sampling',
    messages: [{ role: 'user', text: 'What is the capital of Italy?' }],
  });
  expect(booked(events)).toEqual(modelSaid);
});

it('keeps the server from the model when the user does not agree', async () => {
  const chat = bookingWith(askModel);

  const { id } = request(await chat.send('book'));

  expect(booked(await chat.send(answer(id, { confirmed: false })))).toMatchObject({
    error: expect.stringContaining('does not want the model to be used'),
  });
});

it('lets the server use the model without asking when the author allows it, within the limit of the run', async () => {
  const calls: string[] = [];
  const seeing: Plugin = {
    name: 'seeing',
    beforeModel: ({ request: { contents } }) => void calls.push(contents[0]?.parts[0]?.text ?? ''),
  };
  const chat = bookingWith(askModel, { sampling: 'allow' }, { plugins: [seeing] });

  expect(booked(await chat.send('book'))).toEqual(modelSaid);
  expect(calls).toEqual(['book', 'What is the capital of Italy?', 'book']);
  const events: Event[] = [];
  await expect(async () => {
    for await (const event of chat.stream('book', { runConfig: { maxLlmCalls: 1 } })) events.push(event);
  }).rejects.toMatchObject({ code: 'LlmCallsLimitExceededException' });
  expect(booked(events)).toMatchObject({ error: expect.stringContaining('has used up its 1 model calls') });
});

it('offers no model when the author denies it', async () => {
  const chat = bookingWith(askModel, { sampling: 'deny' });

  expect(booked(await chat.send('book'))).toMatchObject({ error: expect.stringContaining('Method not found') });
});

it('never puts a question to the wrong user: calls it cannot tell apart are told so, and later ones wait', async () => {
  const bothIn = Promise.withResolvers<void>();
  let count = 0;
  const { connection } = linkedServer((server) =>
    setTools(server, {
      list: () => ({ tools: [tool('book')] }),
      call: async () => {
        count += 1;
        if (count === 2) bothIn.resolve();
        if (count <= 2) await bothIn.promise;
        return text(await askDate(server));
      },
    }),
  );
  const toolset = mcpToolset({ connection });
  opened.push(toolset);
  const script: ScriptRule[] = [
    { match: '.', calls: [{ name: 'book', args: {} }] },
    { after: 'book', text: 'ok' },
  ];
  const chats = ['one', 'two'].map(
    () => new Conversation(llmAgent({ name: 'agent', model: 'scripted', script, tools: [toolset] })),
  );

  const mixed = await Promise.all(chats.map((chat) => chat.send('book')));
  const apart = await Promise.all(chats.map((chat) => chat.send('book again')));

  for (const events of mixed)
    expect(booked(events)).toMatchObject({ error: expect.stringContaining('Several calls are active') });
  for (const events of apart) expect(request(events).hint).toBe('Which day?');
});

it('asks before the call and during it when both are wanted', async () => {
  const chat = bookingWith(askDate, { requireConfirmation: true });

  const first = request(await chat.send('book'));
  const second = request(await chat.send(answer(first.id, { confirmed: true })));
  const events = await chat.send(answer(second.id, { confirmed: true, payload: { day: 'Monday' } }));

  expect(first.hint).toContain('wants to call "book"');
  expect(second.hint).toBe('Which day?');
  expect(booked(events)).toEqual(said('accept {"day":"Monday","seats":1}'));
});
