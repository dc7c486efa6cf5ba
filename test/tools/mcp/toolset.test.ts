import { afterEach, expect, it } from 'vitest';
import type { Toolset } from '../../../src/core/runtime.ts';
import type { McpToolsetSpec } from '../../../src/tools/mcp/connection/options.ts';
import { mcpToolset } from '../../../src/tools/mcp/mcp-toolset.ts';
import { toolContext } from '../contexts.ts';
import { linkedServer, setTools, text, tool } from './linked-server.ts';

const opened: Toolset[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((toolset) => toolset.close()));
});

function toolsetOf(spec: McpToolsetSpec): ReturnType<typeof mcpToolset> {
  const toolset = mcpToolset(spec);
  opened.push(toolset);
  return toolset;
}

const context = (log: object[] = []) => {
  const ctx = toolContext();
  return { ...ctx, run: { ...ctx.run, log: { warn: (fields: object) => void log.push(fields) } } };
};
const namesOf = async (toolset: Toolset): Promise<string[]> =>
  (await toolset.getTools(context().run)).map(({ name }) => name);

it('declares the tools of a server with the schemas they came with', async () => {
  const inputSchema = { type: 'object', properties: { city: { type: 'string', enum: ['Rome'] } }, required: ['city'] };
  const outputSchema = { type: 'object', properties: { degrees: { type: 'number' } } };
  const { connection } = linkedServer((server) =>
    setTools(server, { list: () => ({ tools: [tool('weather', { inputSchema, outputSchema })] }) }),
  );
  const toolset = toolsetOf({ connection });

  const [weather] = await toolset.getTools(context().run);

  expect(weather).toMatchObject({
    name: 'weather',
    declaration: { name: 'weather', description: 'Does weather', parameters: inputSchema, response: outputSchema },
  });
});

it('asks for every page of a list', async () => {
  const { connection } = linkedServer((server) =>
    setTools(server, {
      list: (cursor) => (cursor === 'two' ? { tools: [tool('b')] } : { tools: [tool('a')], nextCursor: 'two' }),
    }),
  );

  expect(await namesOf(toolsetOf({ connection }))).toEqual(['a', 'b']);
});

it('gives up on a list whose pages never end', async () => {
  let pages = 0;
  const { connection } = linkedServer((server) =>
    setTools(server, { list: () => ({ tools: [tool(`t${(pages += 1)}`)], nextCursor: 'more' }) }),
  );

  expect(await namesOf(toolsetOf({ connection }))).toHaveLength(64);
});

it('offers the tools a filter names, with and without the prefix', async () => {
  const { connection } = linkedServer((server) =>
    setTools(server, { list: () => ({ tools: [tool('read'), tool('write'), tool('delete')] }) }),
  );

  const toolset = toolsetOf({ connection, namePrefix: 'fs', toolFilter: ['read', 'fs_write'] });

  expect(await namesOf(toolset)).toEqual(['fs_read', 'fs_write']);
});

it('asks a predicate about the tools', async () => {
  const { connection } = linkedServer((server) =>
    setTools(server, {
      list: () => ({ tools: [tool('read', { annotations: { readOnlyHint: true } }), tool('write')] }),
    }),
  );
  const isReadOnly = ({ customMetadata }: { customMetadata?: Record<string, unknown> }): boolean =>
    (customMetadata?.['annotations'] as { readOnlyHint?: boolean } | undefined)?.readOnlyHint === true;

  expect(await namesOf(toolsetOf({ connection, toolFilter: isReadOnly }))).toEqual(['read']);
});

it('calls a tool by the name the server gave it', async () => {
  const calls: unknown[] = [];
  const { connection } = linkedServer((server) =>
    setTools(server, {
      list: () => ({ tools: [tool('files/read')] }),
      call: async (name, args) => {
        calls.push([name, args]);
        return text('done');
      },
    }),
  );
  const ctx = context();

  const [read] = await toolsetOf({ connection, namePrefix: 'x' }).getTools(ctx.run);
  const answer = await read?.run?.({ path: 'a' }, ctx);

  expect(read?.name).toBe('x_files_read');
  expect(calls).toEqual([['files/read', { path: 'a' }]]);
  expect(answer).toEqual({ content: [{ type: 'text', text: 'done' }] });
});

it('leaves out tools that no model could use, and says so', async () => {
  const bad: unknown[] = [
    tool('list', { inputSchema: { type: 'array' } }),
    { description: 'no name' },
    tool('same'),
    tool('x'.repeat(65)),
    tool('huge', { description: 'x'.repeat(300_000) }),
    'nonsense',
  ];
  const { connection } = linkedServer((server) =>
    setTools(server, { list: () => ({ tools: [tool('same'), ...(bad as object[])] }) }),
  );
  const log: object[] = [];

  const tools = await toolsetOf({ connection, name: 'odd' }).getTools(context(log).run);

  expect(tools.map(({ name }) => name)).toEqual(['same']);
  expect(log).toHaveLength(bad.length);
  for (const entry of log) expect(entry).toMatchObject({ server: 'odd', code: 'McpToolDeclarationException' });
});

it('leaves out tools that only run as tasks', async () => {
  const { connection } = linkedServer((server) =>
    setTools(server, {
      list: () => ({ tools: [tool('slow', { execution: { taskSupport: 'required' } }), tool('fast')] }),
    }),
  );

  expect(await namesOf(toolsetOf({ connection }))).toEqual(['fast']);
});

it('asks for the list once, and again after the server says that it changed', async () => {
  let lists = 0;
  const { connection, sessions } = linkedServer((server) =>
    setTools(server, { list: () => ({ tools: [tool(`version${(lists += 1)}`)] }) }),
  );
  const toolset = toolsetOf({ connection });

  const [first] = await toolset.getTools(context().run);
  const [second] = await toolset.getTools(context().run);
  await sessions[0]!.sendToolListChanged();

  expect(second).toBe(first);
  await expect.poll(() => namesOf(toolset)).toEqual(['version2']);
  expect(lists).toBe(2);
});

it('asks for the list again when its time is over', async () => {
  let lists = 0;
  const { connection } = linkedServer((server) =>
    setTools(server, { list: () => ({ tools: [tool(`version${(lists += 1)}`)] }) }),
  );
  const toolset = toolsetOf({ connection, listTtlMs: 0 });

  expect([await namesOf(toolset), await namesOf(toolset)]).toEqual([['version1'], ['version2']]);
});

it('opens one session for runs that ask at the same time', async () => {
  const { connection, sessions } = linkedServer((server) => setTools(server, { list: () => ({ tools: [tool('a')] }) }));
  const toolset = toolsetOf({ connection });

  await Promise.all(Array.from({ length: 10 }, () => namesOf(toolset)));

  expect(sessions).toHaveLength(1);
});

it('starts a new session after it was closed', async () => {
  const { connection, sessions } = linkedServer((server) => setTools(server, { list: () => ({ tools: [tool('a')] }) }));
  const toolset = toolsetOf({ connection });

  await namesOf(toolset);
  await toolset.close();

  expect(sessions[0]!.transport).toBeUndefined();
  expect(await namesOf(toolset)).toEqual(['a']);
  expect(sessions).toHaveLength(2);
});

it('goes on with the last list while the server cannot be asked', async () => {
  let isUp = true;
  const up = linkedServer((server) => setTools(server, { list: () => ({ tools: [tool('a')] }) }));
  const transport = () => {
    if (!isUp) throw new TypeError('fetch failed');
    return (up.connection as { transport: () => never }).transport();
  };
  const toolset = toolsetOf({ connection: { transport } });
  const log: object[] = [];

  await namesOf(toolset);
  isUp = false;
  await up.sessions[0]!.close();
  const tools = await toolset.getTools(context(log).run);

  expect(tools.map(({ name }) => name)).toEqual(['a']);
  expect(log).toEqual([expect.objectContaining({ code: 'McpSessionInitializationException' })]);
});

it('refuses options that make no sense, without telling secrets', () => {
  const http =
    (url: string, headers = {}) =>
    () =>
      mcpToolset({ connection: { streamableHttp: { url, headers } } });

  expect(() => mcpToolset({ connection: {} as never })).toThrow(/exactly one of stdio, sse, streamableHttp/);
  expect(http('file:///etc/passwd')).toThrow(/starts with http/);
  expect(http('https://ann:hunter2@example.com/mcp')).toThrow(/^(?!.*hunter2).*send them as a header/);
  expect(http('https://example.com/mcp', { authorization: 'Bearer s3cret\r\nx: y' })).toThrow(
    /^(?!.*s3cret).*authorization/s,
  );
  expect(() => mcpToolset({ connection: { stdio: { command: 'x' } }, namePrefix: 'no spaces' })).toThrow(/no spaces/);
});

it('names a server after its host or program, never after a path or an argument', () => {
  const nameOf = (connection: McpToolsetSpec['connection']): string | undefined => mcpToolset({ connection }).name;

  expect(nameOf({ streamableHttp: { url: 'https://api.example.com/s/token?key=1' } })).toBe('api.example.com');
  expect(nameOf({ stdio: { command: '/usr/bin/mcp-git', args: ['--token', 'x'] } })).toBe('mcp-git');
  expect(nameOf({ stdio: { command: 'npx', args: ['-y', '@scope/server-everything'] } })).toBe('npx server-everything');
});

it('closes what was opened while it was being closed', async () => {
  const { connection, sessions } = linkedServer((server) => setTools(server, { list: () => ({ tools: [tool('a')] }) }));
  const toolset = toolsetOf({ connection });

  const listing = toolset.getTools(context().run).catch(() => []);
  await toolset.close();
  await listing;
  await toolset.close();

  expect(sessions.filter(({ transport }) => transport !== undefined)).toEqual([]);
});
