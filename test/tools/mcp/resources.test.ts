import type { Server } from '@modelcontextprotocol/server';
import { afterEach, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/base/json.ts';
import type { ToolContext } from '../../../src/core/runtime.ts';
import type { McpToolsetSpec } from '../../../src/tools/mcp/connection/options.ts';
import { mcpToolset, type McpToolset } from '../../../src/tools/mcp/mcp-toolset.ts';
import { toolContext } from '../contexts.ts';
import { linkedServer, setTools, tool } from './linked-server.ts';

const opened: McpToolset[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((toolset) => toolset.close()));
});

let lists = 0;

function library(server: Server): void {
  setTools(server, { list: () => ({ tools: [tool('search')] }) });
  server.setRequestHandler('resources/list', async () => {
    lists += 1;
    const notes = { uri: 'lib://notes', name: 'notes', description: 'What was said', mimeType: 'text/plain' };
    return { resources: [notes, { uri: 'lib://photo', name: 'photo' }] };
  });
  server.setRequestHandler('resources/read', async ({ params: { uri } }) => {
    if (uri === 'lib://photo') return { contents: [{ uri, mimeType: 'image/png', blob: 'AAAA' }] };
    if (uri === 'lib://gone') throw new Error('It is gone');
    return { contents: [{ uri, mimeType: 'text/plain', text: `text of ${uri}` }] };
  });
  server.setRequestHandler('prompts/list', async () => ({
    prompts: [
      { name: 'review', description: 'Reviews code', arguments: [{ name: 'code', required: true }, { name: 'style' }] },
    ],
  }));
  server.setRequestHandler('prompts/get', async ({ params }) => ({
    description: 'A review',
    messages: [{ role: 'user', content: { type: 'text', text: `Review ${params.arguments?.['code'] ?? 'nothing'}` } }],
  }));
}

const capabilities = { tools: {}, resources: { listChanged: true }, prompts: {} };

function libraryToolset(spec: Partial<McpToolsetSpec> = {}): { toolset: McpToolset; sessions: Server[] } {
  const { connection, sessions } = linkedServer(library, capabilities);
  const toolset = mcpToolset({ connection, name: 'library', resources: true, prompts: true, ...spec });
  opened.push(toolset);
  return { toolset, sessions };
}

async function call(toolset: McpToolset, name: string, args: JsonObject, ctx: ToolContext): Promise<unknown> {
  const tools = await toolset.getTools(ctx.run);
  return tools.find((one) => one.name === name)?.run?.(args, ctx);
}

it('tells the model which resources and prompts there are', async () => {
  const { toolset } = libraryToolset({ namePrefix: 'lib', toolFilter: ['search'] });

  const tools = await toolset.getTools(toolContext().run);

  expect(tools.map(({ name }) => name)).toEqual(['lib_search', 'lib_load_mcp_resource', 'lib_load_mcp_prompt']);
  expect(tools[1]!.description).toContain('- "notes" lib://notes (text/plain: What was said)\n- "photo" lib://photo');
  expect(tools[2]!.description).toContain('- "review"(code, style?) Reviews code');
});

it('reads resources by name and by URI; one that cannot be read costs only itself', async () => {
  const { toolset } = libraryToolset();
  const ctx = { ...toolContext(), functionCallId: 'c1' };
  const resource_names = ['notes', 'lib://other', 'photo', 'nonsense', 'lib://gone'];

  const answer = await call(toolset, 'load_mcp_resource', { resource_names }, ctx);

  expect(answer).toEqual({
    resources: [
      { uri: 'lib://notes', mimeType: 'text/plain', text: 'text of lib://notes' },
      { uri: 'lib://other', mimeType: 'text/plain', text: 'text of lib://other' },
      { uri: 'lib://photo', mimeType: 'image/png', artifact: expect.stringMatching(/^load_mcp_resource-c1-.*\.png$/) },
      { name: 'nonsense', error: 'There is no resource of this name' },
      { uri: 'lib://gone', error: expect.stringContaining('It is gone') },
    ],
  });
});

it('fetches a prompt with its arguments', async () => {
  const { toolset } = libraryToolset();

  const answer = await call(
    toolset,
    'load_mcp_prompt',
    { name: 'review', arguments: { code: 'x = 1' } },
    toolContext(),
  );

  expect(answer).toEqual({
    description: 'A review',
    messages: [{ role: 'user', content: { type: 'text', text: 'Review x = 1' } }],
  });
});

it('lists resources once, and again after the server says that they changed', async () => {
  const { toolset, sessions } = libraryToolset();
  lists = 0;

  await toolset.getTools(toolContext().run);
  await toolset.getTools(toolContext().run);
  expect(lists).toBe(1);
  await sessions[0]!.sendResourceListChanged();

  await expect
    .poll(async () => {
      await toolset.getTools(toolContext().run);
      return lists;
    })
    .toBe(2);
});

it('offers no resources or prompts of a server that has none, and none nobody asked for', async () => {
  const { connection } = linkedServer((server) => setTools(server, { list: () => ({ tools: [tool('search')] }) }));
  const bare = mcpToolset({ connection, resources: true, prompts: true });
  const { toolset } = libraryToolset({ resources: false, prompts: false });
  opened.push(bare);

  for (const one of [bare, toolset]) {
    expect((await one.getTools(toolContext().run)).map(({ name }) => name)).toEqual(['search']);
  }
});

it('keeps the tools when the list of resources cannot be had', async () => {
  const { connection } = linkedServer((server) => {
    setTools(server, { list: () => ({ tools: [tool('search')] }) });
    server.setRequestHandler('resources/list', () => Promise.reject(new Error('broken')));
  }, capabilities);
  const toolset = mcpToolset({ connection, resources: true });
  opened.push(toolset);

  expect((await toolset.getTools(toolContext().run)).map(({ name }) => name)).toEqual(['search']);
});

it('gives programs the resources and prompts, too', async () => {
  const { toolset } = libraryToolset();
  const { run } = toolContext();

  expect((await toolset.listResources(run)).map(({ uri }) => uri)).toEqual(['lib://notes', 'lib://photo']);
  expect(await toolset.readResource('lib://notes', run)).toMatchObject({ contents: [{ text: 'text of lib://notes' }] });
  expect((await toolset.listPrompts(run)).map(({ name }) => name)).toEqual(['review']);
  expect(await toolset.getPrompt('review', { code: 'y' }, run)).toMatchObject({
    messages: [{ content: { text: 'Review y' } }],
  });
  await expect(toolset.readResource('lib://gone', run)).rejects.toMatchObject({ code: 'McpToolsetException' });
});
