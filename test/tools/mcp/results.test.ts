import { afterEach, expect, it } from 'vitest';
import { llmAgent } from '../../../src/agents/llm-agent.ts';
import type { JsonObject } from '../../../src/base/json.ts';
import type { ModelRequest } from '../../../src/core/model.ts';
import { type Event, functionResponses } from '../../../src/schemas/event.ts';
import { mcpToolset, type McpToolset } from '../../../src/tools/mcp/mcp-toolset.ts';
import { toolResponse } from '../../../src/tools/mcp/result.ts';
import { Conversation } from '../../support/fake-run.ts';
import { services, toolContext } from '../contexts.ts';
import { linkedServer, setTools, text, tool } from './linked-server.ts';

const opened: McpToolset[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((toolset) => toolset.close()));
});

type Result = Parameters<typeof toolResponse>[0];
const respond = (result: object, ctx = toolContext()): Promise<JsonObject> =>
  toolResponse(result as Result, 'look', ctx);

const png = 'iVBORw0KGgo=';
const image = { type: 'image', mimeType: 'image/png', data: png };

it('gives the content as the protocol has it', async () => {
  const link = { type: 'resource_link', uri: 'demo://a', name: 'a' };
  const content = [{ type: 'text', text: 'hi', annotations: { priority: 1 } }, link];

  expect(await respond({ content })).toEqual({ content });
  expect(await respond({ content: [] })).toEqual({ content: [] });
});

it('leaves out what is not meant for models', async () => {
  expect(await respond({ content: [{ type: 'text', text: 'hi', _meta: { trace: 1 } }], _meta: {} })).toEqual(
    text('hi'),
  );
});

it('prefers the structure to text that only repeats it', async () => {
  const structuredContent = { degrees: 21, city: 'Rome' };
  const repeated = { type: 'text', text: '{"city":"Rome","degrees":21}' };
  const more = { type: 'text', text: 'Mind the sun.' };

  expect(await respond({ content: [repeated], structuredContent })).toEqual({ structuredContent });
  expect(await respond({ content: [repeated, more], structuredContent })).toEqual({
    structuredContent,
    content: [more],
  });
});

it('makes an error of a tool that failed', async () => {
  const content = [{ type: 'text', text: 'No such city' }, image, { type: 'text', text: 'Try Rome' }];

  expect(await respond({ content, isError: true })).toEqual({ error: 'No such city\nTry Rome' });
  expect(await respond({ content: [], isError: true })).toEqual({ error: '"look" failed and did not say why' });
  expect(await respond({ content: [], isError: true, structuredContent: { code: 7 } })).toMatchObject({
    details: { code: 7 },
  });
});

it('keeps pictures, sounds and files as artifacts', async () => {
  const held = services();
  const ctx = { ...toolContext({ services: held }), functionCallId: 'c1' };
  const content = [
    image,
    { type: 'audio', mimeType: 'audio/mpeg', data: 'AAAA' },
    { type: 'resource', resource: { uri: 'demo://z', mimeType: 'application/x-gzip', blob: 'BBBB' } },
    { type: 'resource', resource: { uri: 'demo://t', text: 'plain' } },
    { type: 'resource', resource: { uri: 'demo://b', mimeType: 'text/csv', blob: 'YSxi' } },
  ];

  const response = await respond({ content }, ctx);

  expect(response).toEqual({
    content: [
      { type: 'image', mimeType: 'image/png', artifact: 'look-c1-1.png' },
      { type: 'audio', mimeType: 'audio/mpeg', artifact: 'look-c1-2.mp3' },
      { type: 'resource', resource: { uri: 'demo://z', mimeType: 'application/x-gzip', artifact: 'look-c1-3.gzip' } },
      { type: 'resource', resource: { uri: 'demo://t', text: 'plain' } },
      { type: 'resource', resource: { uri: 'demo://b', mimeType: 'text/csv', text: 'a,b' } },
    ],
  });
  expect(await ctx.loadArtifact('look-c1-1.png')).toEqual({ inlineData: { mimeType: 'image/png', data: png } });
});

it('answers without its pictures where nothing can keep them', async () => {
  const ctx = { ...toolContext(), saveArtifact: () => Promise.reject(new Error('disk full')) };

  expect(await respond({ content: [image] }, ctx)).toEqual({
    content: [{ type: 'image', mimeType: 'image/png', note: '8 bytes, not kept: disk full' }],
  });
});

/** Requests a model was asked with, and what the tools answered, in a conversation of two turns. */
async function conversation(): Promise<{ requests: ModelRequest[]; events: Event[] }> {
  const { connection } = linkedServer((server) =>
    setTools(server, {
      list: () => ({ tools: [tool('look')] }),
      call: async () => ({ content: [{ type: 'text', text: 'See:' }, image] }),
    }),
  );
  const toolset = mcpToolset({ connection, namePrefix: 'eye' });
  opened.push(toolset);
  const requests: ModelRequest[] = [];
  const agent = llmAgent({
    name: 'agent',
    model: 'scripted',
    script: [
      { match: 'look', calls: [{ name: 'eye_look', args: {} }] },
      { after: 'eye_look', text: 'Nice.' },
      { text: 'Bye.' },
    ],
    tools: [toolset],
    beforeModel: ({ request }) => void requests.push({ ...request, contents: structuredClone(request.contents) }),
  });
  const chat = new Conversation(agent);
  return { requests, events: [...(await chat.send('look')), ...(await chat.send('thanks'))] };
}

it('shows a picture to the model in the question after the call, and in no other', async () => {
  const { requests, events } = await conversation();

  const [response] = events.flatMap(functionResponses);
  const { artifact } = (response!.response['content'] as { artifact: string }[])[1]!;
  const shown = requests.map(({ contents }) =>
    contents.flatMap(({ parts }) => parts.flatMap(({ inlineData }) => (inlineData ? [inlineData.data] : []))),
  );
  expect(artifact).toMatch(/^look-adk-.+-2\.png$/);
  expect(shown).toEqual([[], [png], []]);
  expect(requests[1]!.contents.at(-1)).toMatchObject({
    role: 'user',
    parts: [{ functionResponse: { name: 'eye_look' } }, { inlineData: { mimeType: 'image/png' } }],
  });
  expect(requests[1]!.config.tools?.[0]?.functionDeclarations?.map(({ name }) => name)).toEqual(['eye_look']);
});

it('never puts the bytes of a picture into an event', async () => {
  const { events } = await conversation();

  expect(JSON.stringify(events)).not.toContain(png);
});
