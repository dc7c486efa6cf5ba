import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { ServerProcess } from '../../support/server.ts';
import { outline, textOf, type WireEvent } from '../real-input/conversation.ts';
import * as bed from './bed.ts';

let folder: string;
let shared: string;
let server: ServerProcess;
let forbidding: Server;

beforeAll(async () => {
  folder = await bed.workFolder();
  shared = join(folder, 'shared');
  await mkdir(shared);
  await writeFile(join(shared, 'notes.txt'), 'Buy milk.');
  forbidding = createServer((_request, response) => response.writeHead(403).end('no')).listen(0, '127.0.0.1');
  const agents = join(folder, 'agents');
  const script = [
    { match: 'read (\\S+)', calls: [{ name: 'read_text_file', args: { path: '$1' } }] },
    { match: 'note (\\w+)', calls: [{ name: 'write_file', args: { path: join(shared, 'new.txt'), content: '$1' } }] },
    { after: 'read_text_file', text: 'It says: ${read_text_file.structuredContent.content}' },
    { text: 'Done.' },
  ];
  const stdio = { command: process.execPath, args: [bed.filesystem, shared] };
  const files = { stdio_server_params: stdio, tool_filter: ['read_text_file', 'write_file'] };
  await bed.writeApp(agents, 'files', { script, tools: [{ name: 'McpToolset', args: files }] });
  await bed.writeApp(agents, 'careful', {
    script,
    tools: [{ name: 'McpToolset', args: { ...files, require_confirmation: true } }],
  });
  const url = `http://127.0.0.1:${(forbidding.address() as AddressInfo).port}/mcp`;
  await bed.writeApp(agents, 'forbidden', {
    script: [...script.slice(0, 1), { text: 'Done.' }],
    tools: [
      { name: 'McpToolset', args: { streamable_http_connection_params: { url }, name: 'closed shop' } },
      { name: 'load_memory' },
    ],
  });
  server = await bed.startServer(agents);
});

afterAll(async () => {
  await server?.stop();
  forbidding?.close();
  await bed.remove(folder);
});

const responses = (events: readonly WireEvent[]): unknown[] =>
  events.flatMap((event) => event.content?.parts ?? []).flatMap((part) => part.functionResponse?.response ?? []);

it('lets a YAML agent read files through the filesystem server', async () => {
  const chat = await bed.chatWith(server, 'files');

  const events = await chat.say(`read ${join(shared, 'notes.txt')}`);

  expect(textOf(events.at(-1))).toBe('It says: Buy milk.');
});

it('passes on what the server refuses', async () => {
  const chat = await bed.chatWith(server, 'files');

  const [response] = responses(await chat.say('read /etc/passwd'));

  expect(response).toEqual({ error: expect.stringContaining('outside allowed directories') });
});

it('writes only what the user agrees to', async () => {
  const chat = await bed.chatWith(server, 'careful');

  const asked = await chat.say('note hello');
  const written = readFile(join(shared, 'new.txt'), 'utf8');
  await expect(written).rejects.toMatchObject({ code: 'ENOENT' });
  const id = asked.at(-1)?.content?.parts?.[0]?.functionCall?.id ?? '';
  await chat.say([{ functionResponse: { id, name: 'adk_request_confirmation', response: { confirmed: true } } }]);

  expect(await readFile(join(shared, 'new.txt'), 'utf8')).toBe('hello');
});

it('costs one tool error when a server answers 403', async () => {
  const chat = await bed.chatWith(server, 'forbidden');

  const events = await chat.say('read anything');

  expect(responses(events)).toEqual([
    {
      error: expect.stringContaining('The MCP server "closed shop" answered with HTTP status 403 (Forbidden)'),
      errorCode: 'McpInitializationException',
    },
  ]);
  expect(outline(events).at(-1)).toBe('forbidden: Done.');
  expect(server.stderr).toContain('a toolset cannot say what it offers');
});
