import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/base/json.ts';
import type { McpProgram, McpToolsetSpec } from '../../../src/tools/mcp/connection/options.ts';
import { mcpToolset, type McpToolset } from '../../../src/tools/mcp/mcp-toolset.ts';
import { toolContext } from '../contexts.ts';

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'mcp-stdio-')));
afterAll(() => rmSync(folder, { recursive: true }));

/** A server of a few lines: `look` tells about its process, `die` ends it at once, `hang` never answers. */
const source = `
import { createInterface } from 'node:readline';
const answer = (id, result) => console.log(JSON.stringify({ jsonrpc: '2.0', id, result }));
console.error('ready for work');
for await (const line of createInterface(process.stdin)) {
  const { id, method, params } = JSON.parse(line);
  if (method === 'initialize')
    answer(id, { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 's', version: '1' } });
  if (method === 'tools/list')
    answer(id, { tools: ['look', 'die', 'hang'].map((name) => ({ name, inputSchema: { type: 'object' } })) });
  if (method !== 'tools/call') continue;
  if (params.name === 'die') process.kill(process.pid, 'SIGKILL');
  const { TEAM, SECRET } = process.env;
  const structuredContent = { pid: process.pid, cwd: process.cwd(), team: TEAM, secret: SECRET };
  if (params.name === 'look') answer(id, { content: [], structuredContent });
}
`;
const file = join(folder, 'server.mjs');
writeFileSync(file, source);

const opened: McpToolset[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((toolset) => toolset.close()));
});

function toolsetOf(stdio: Partial<McpProgram> = {}, spec: Partial<McpToolsetSpec> = {}): McpToolset {
  const toolset = mcpToolset({ connection: { stdio: { command: process.execPath, args: [file], ...stdio } }, ...spec });
  opened.push(toolset);
  return toolset;
}

async function call(toolset: McpToolset, name: string): Promise<JsonObject> {
  const ctx = toolContext();
  const tools = await toolset.getTools(ctx.run);
  const answer = (await tools.find((tool) => tool.name === name)?.run?.({}, ctx)) as JsonObject;
  return answer['structuredContent'] as JsonObject;
}

function isRunning(pid: unknown): boolean {
  try {
    return process.kill(Number(pid), 0);
  } catch {
    return false;
  }
}

it('starts a program with its own environment and folder, and nothing else of ours', async () => {
  process.env['SECRET'] = 'ours';
  try {
    const seen = await call(toolsetOf({ env: { TEAM: 'blue' }, cwd: folder }), 'look');
    expect(seen).toEqual({ pid: expect.any(Number), cwd: folder, team: 'blue' });
  } finally {
    delete process.env['SECRET'];
  }
});

it('leaves no process behind when it is closed', async () => {
  const toolset = toolsetOf();
  const { pid } = await call(toolset, 'look');

  expect(isRunning(pid)).toBe(true);
  await toolset.close();

  expect(isRunning(pid)).toBe(false);
});

it('costs a call an error when the program dies in it, and starts another for the next', async () => {
  const toolset = toolsetOf({}, { name: 'mortal' });
  const { pid } = await call(toolset, 'look');

  await expect(call(toolset, 'die')).rejects.toMatchObject({
    code: 'McpToolsetException',
    message: 'The MCP server "mortal" ended the connection',
  });
  const again = await call(toolset, 'look');

  expect(isRunning(pid)).toBe(false);
  expect(again['pid']).not.toBe(pid);
});

it('starts another program when the one there was has died meanwhile', async () => {
  const toolset = toolsetOf();
  const { pid } = await call(toolset, 'look');

  process.kill(Number(pid), 'SIGKILL');
  await expect.poll(() => isRunning(pid)).toBe(false);

  expect((await call(toolset, 'look'))['pid']).not.toBe(pid);
});

it('tells that a program cannot be started', async () => {
  const listed = toolsetOf({ command: 'mcp-no-such-program' }).getTools(toolContext().run);

  await expect(listed).rejects.toMatchObject({
    code: 'McpInitializationException',
    message: 'The MCP server "mcp-no-such-program" could not be started (ENOENT)',
  });
});

it('tells that a program ended at once, and keeps what it said for the log', async () => {
  const args = ['-e', 'console.error("no config, token=abcdef123456"); process.exit(3)'];
  const listed = toolsetOf({ args }, { name: 'hasty' }).getTools(toolContext().run);

  await expect(listed).rejects.toMatchObject({
    code: 'McpInitializationException',
    message: 'The MCP server "hasty" ended the connection',
    cause: { message: expect.stringMatching(/its standard error ends in: no config, token=\[redacted\]$/) },
  });
});

it('ends a program that never answered the first request', async () => {
  const pidFile = join(folder, 'pid');
  const args = [
    '-e',
    `require('fs').writeFileSync(${JSON.stringify(pidFile)}, String(process.pid)); setInterval(() => {}, 1000)`,
  ];
  const toolset = toolsetOf({ args }, { timeouts: { connectMs: 2000 } });

  await expect(toolset.getTools(toolContext().run)).rejects.toMatchObject({ code: 'McpInitializationException' });
  await toolset.close();

  const { readFileSync } = await import('node:fs');
  expect(isRunning(readFileSync(pidFile, 'utf8'))).toBe(false);
});

it('gives up on a program that hangs, and starts another when it does not live any more', async () => {
  const toolset = toolsetOf({}, { timeouts: { callMs: 200, connectMs: 5000 } });
  const { pid } = await call(toolset, 'look');

  await expect(call(toolset, 'hang')).rejects.toMatchObject({
    message: expect.stringMatching(/did not answer within 0.2 s/),
  });
  const again = await call(toolset, 'look');

  // The program answers no pings, so that it counts as dead.
  expect(again['pid']).not.toBe(pid);
});
