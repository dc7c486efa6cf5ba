import { afterEach, expect, it } from 'vitest';
import type { JsonObject } from '../../../../src/base/json.ts';
import type { ToolContext } from '../../../../src/core/runtime.ts';
import type { McpToolsetSpec } from '../../../../src/tools/mcp/connection/options.ts';
import { mcpToolset } from '../../../../src/tools/mcp/mcp-toolset.ts';
import { toolContext } from '../../contexts.ts';
import { type Behaviour, HttpMcpServer } from '../http-server.ts';

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  await Promise.all(closing.splice(0).map((close) => close()));
});

async function serverWith(behaviour?: Behaviour): Promise<HttpMcpServer> {
  const server = await HttpMcpServer.start(behaviour);
  closing.push(() => server.close());
  return server;
}

function toolsetAt(url: string, spec: Partial<McpToolsetSpec> = {}): ReturnType<typeof mcpToolset> {
  const toolset = mcpToolset({ connection: { streamableHttp: { url } }, name: 'double', ...spec });
  closing.push(() => toolset.close());
  return toolset;
}

/** A caller of the tool `echo`. */
async function echoOf(toolset: ReturnType<typeof mcpToolset>, ctx: ToolContext = toolContext()) {
  const tools = await toolset.getTools(ctx.run);
  const echo = tools.find(({ name }) => name === 'echo');
  return async (args: JsonObject) => echo!.run!(args, ctx);
}

it.each([401, 403, 500, 503])('tells that a server answers with status %i to the first request', async (status) => {
  const server = await serverWith((_rpc, response) => {
    response.writeHead(status).end('go away, sk-1234567890abcdef');
    return 'handled';
  });
  const toolset = toolsetAt(server.url);

  await expect(toolset.getTools(toolContext().run)).rejects.toMatchObject({
    code: 'McpInitializationException',
    message: expect.stringMatching(
      new RegExp(`^The MCP server "double" answered with HTTP status ${status} \\([^)]+\\)$`),
    ),
  });
  expect(server.count('initialize')).toBe(1);
});

it('tells that a server cannot be reached', async () => {
  const server = await HttpMcpServer.start();
  const { url } = server;
  await server.close();

  for (const connection of [{ streamableHttp: { url } }, { sse: { url } }]) {
    const listed = toolsetAt(url, { connection }).getTools(toolContext().run);
    await expect(listed).rejects.toMatchObject({
      code: 'McpInitializationException',
      message: 'The MCP server "double" could not be reached (ECONNREFUSED)',
    });
  }
});

it.each(['streamableHttp', 'sse'] as const)('gives up on a %s server that never answers', async (way) => {
  const server = await serverWith(() => 'handled');
  const connection = way === 'sse' ? { sse: { url: await stallingServer() } } : { streamableHttp: { url: server.url } };
  const toolset = toolsetAt(server.url, { connection, timeouts: { connectMs: 100 } });

  await expect(toolset.getTools(toolContext().run)).rejects.toMatchObject({
    code: 'McpInitializationException',
    message: 'The MCP server "double" did not answer within 0.1 s',
  });
});

/** Accepts an event stream and sends nothing. */
async function stallingServer(): Promise<string> {
  const { createServer } = await import('node:http');
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  closing.push(async () => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as { port: number }).port}/sse`;
}

it('tells that a list was not to be had, and tries again next time', async () => {
  let isBroken = true;
  const server = await serverWith((rpc, response) => {
    if (rpc.method !== 'tools/list' || !isBroken) return undefined;
    response.writeHead(500).end();
    return 'handled';
  });
  const toolset = toolsetAt(server.url);

  await expect(toolset.getTools(toolContext().run)).rejects.toMatchObject({ code: 'McpToolLoadingException' });
  isBroken = false;

  expect(await toolset.getTools(toolContext().run)).toHaveLength(1);
});

it('opens another session when the server has forgotten the one there was, and calls once more', async () => {
  const server = await serverWith();
  const echo = await echoOf(toolsetAt(server.url));

  server.sessions.clear();
  const answer = await echo({ a: 1 });

  expect(answer).toEqual({ content: [{ type: 'text', text: '{"a":1}' }] });
  expect(server.count('initialize')).toBe(2);
  expect(server.count('tools/call')).toBe(2);
});

it('calls once more only: a server that forgets every session costs one error', async () => {
  const server = await serverWith((rpc, response) => {
    if (rpc.method !== 'tools/call') return undefined;
    response.writeHead(404).end();
    return 'handled';
  });
  const echo = await echoOf(toolsetAt(server.url));

  await expect(echo({})).rejects.toMatchObject({ code: 'McpToolsetException' });
  expect(server.count('tools/call')).toBe(2);
});

it('does not repeat a call that the server may have carried out', async () => {
  const server = await serverWith((rpc, _response, request) => {
    if (rpc.method !== 'tools/call') return undefined;
    request.socket.destroy();
    return 'handled';
  });
  const echo = await echoOf(toolsetAt(server.url));

  await expect(echo({})).rejects.toMatchObject({ code: 'McpToolsetException' });
  expect(server.count('tools/call')).toBe(1);
});

it('fails a call at once when its stream breaks off', async () => {
  const server = await serverWith((rpc, response, request) => {
    if (rpc.method !== 'tools/call') return undefined;
    response.writeHead(200, { 'content-type': 'text/event-stream' }).write(': working\n\n');
    setImmediate(() => request.socket.destroy());
    return 'handled';
  });
  const echo = await echoOf(toolsetAt(server.url));

  await expect(echo({})).rejects.toMatchObject({ message: 'The MCP server "double" ended the connection' });
});

it('comes back to a server that was restarted', async () => {
  const server = await HttpMcpServer.start();
  const { port } = server;
  const toolset = toolsetAt(server.url);
  const echo = await echoOf(toolset);
  await server.close();

  // The first call may still find a connection that is about to break.
  await expect(echo({})).rejects.toMatchObject({ code: expect.stringMatching(/^Mcp/) });
  await expect(echo({})).rejects.toMatchObject({ code: 'McpSessionInitializationException' });
  const again = new HttpMcpServer();
  await again.listen(port);
  closing.push(() => again.close());

  expect(await echo({})).toEqual({ content: [{ type: 'text', text: '{}' }] });
});

it('gives up a call that takes too long, tells the server, and asks whether it lives before the next one', async () => {
  let isStuck = true;
  const server = await serverWith((rpc) => (rpc.method === 'tools/call' && isStuck ? 'handled' : undefined));
  const echo = await echoOf(toolsetAt(server.url, { timeouts: { callMs: 100 } }));

  await expect(echo({})).rejects.toMatchObject({
    code: 'McpToolsetException',
    message: 'The MCP server "double" did not answer within 0.1 s',
  });
  await expect.poll(() => server.count('notifications/cancelled')).toBe(1);
  isStuck = false;

  expect(await echo({})).toMatchObject({ content: [{ text: '{}' }] });
  expect(server.count('ping')).toBe(1);
  expect(server.count('initialize')).toBe(1);
});

it('lets go of a call when the run ends, and tells the server', async () => {
  const gone = Promise.withResolvers<void>();
  const server = await serverWith((rpc, response) => {
    if (rpc.method !== 'tools/call') return undefined;
    response.on('close', () => gone.resolve());
    return 'handled';
  });
  const abort = new AbortController();
  const echo = await echoOf(toolsetAt(server.url), toolContext({ signal: abort.signal }));

  const call = echo({});
  await expect.poll(() => server.count('tools/call')).toBe(1);
  abort.abort(new Error('the user left'));

  await expect(call).rejects.toThrow('the user left');
  await gone.promise;
  await expect.poll(() => server.count('notifications/cancelled')).toBe(1);
});

it('refuses a message without end', async () => {
  const server = await serverWith((rpc, response) => {
    if (rpc.method !== 'tools/call') return undefined;
    response.writeHead(200, { 'content-type': 'application/json' });
    const more = (): void => {
      while (!response.destroyed && response.write('x'.repeat(1_000_000)));
      if (!response.destroyed) response.once('drain', more);
    };
    more();
    return 'handled';
  });
  const echo = await echoOf(toolsetAt(server.url));

  await expect(echo({})).rejects.toMatchObject({ message: expect.stringMatching(/longer than \d+ bytes/) });
});

it('does not wait for the same silent server twice in a row', async () => {
  const server = await serverWith(() => 'handled');
  const toolset = toolsetAt(server.url, { timeouts: { connectMs: 200 } });

  await expect(toolset.getTools(toolContext().run)).rejects.toThrow('did not answer');
  await expect(toolset.getTools(toolContext().run)).rejects.toThrow('did not answer');

  expect(server.count('initialize')).toBe(1);
});

it('does not wait twice in a row for a list that does not come', async () => {
  const server = await serverWith((rpc) => (rpc.method === 'tools/list' ? 'handled' : undefined));
  const toolset = toolsetAt(server.url, { timeouts: { listMs: 200 } });
  const failure = { code: 'McpToolLoadingException', message: 'The MCP server "double" did not answer within 0.2 s' };

  await expect(toolset.getTools(toolContext().run)).rejects.toMatchObject(failure);
  await expect(toolset.getTools(toolContext().run)).rejects.toMatchObject(failure);

  expect(server.count('tools/list')).toBe(1);
});

it('says goodbye to the sessions it closes', async () => {
  const server = await serverWith();
  const toolset = toolsetAt(server.url);
  await toolset.getTools(toolContext().run);

  await toolset.close();

  expect(server.sessions.size).toBe(0);
});
