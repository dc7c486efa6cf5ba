import { afterEach, beforeEach, expect, it } from 'vitest';
import type { ReadonlyContext, ToolContext } from '../../../src/core/runtime.ts';
import type { McpToolsetSpec } from '../../../src/tools/mcp/connection/options.ts';
import { mcpToolset, type McpToolset } from '../../../src/tools/mcp/mcp-toolset.ts';
import { toolContext } from '../contexts.ts';
import { HttpMcpServer } from './http-server.ts';

let server: HttpMcpServer;
const opened: McpToolset[] = [];
beforeEach(async () => {
  server = await HttpMcpServer.start();
});
afterEach(async () => {
  await Promise.all(opened.splice(0).map((toolset) => toolset.close()));
  await server.close();
});

function toolsetWith(spec: Partial<McpToolsetSpec>, headers?: Record<string, string>): McpToolset {
  const connection = { streamableHttp: { url: server.url, ...(headers && { headers }) } };
  const toolset = mcpToolset({ connection, name: 'double', ...spec });
  opened.push(toolset);
  return toolset;
}

/** The context of a user whose session state holds this token. */
function contextOf(token: string): ToolContext {
  const base = { id: token, appName: 'app', userId: 'ann', events: [], lastUpdateTime: 0 };
  return toolContext({ session: { ...base, state: { token } } });
}

const bearer = ({ session }: ReadonlyContext): Record<string, string> => ({
  Authorization: `Bearer ${String(session.state['token'])}`,
});
const sent = (name: string): unknown[] => server.seen.map(({ headers }) => headers[name]);

async function echo(toolset: McpToolset, ctx: ToolContext): Promise<unknown> {
  const [tool] = await toolset.getTools(ctx.run);
  return tool?.run?.({ a: 1 }, ctx);
}

it('sends fixed headers with every request', async () => {
  await echo(toolsetWith({}, { 'X-Team': 'blue' }), toolContext());

  expect(server.seen.map(({ method }) => method)).toContain('tools/call');
  expect(new Set(sent('x-team'))).toEqual(new Set(['blue']));
});

it('keeps the sessions of users with different headers apart, and shares those with equal ones', async () => {
  const toolset = toolsetWith({ headers: bearer }, { authorization: 'Bearer nobody', 'x-team': 'blue' });

  for (const token of ['one', 'two', 'one', 'two']) await echo(toolset, contextOf(token));

  expect(server.count('initialize')).toBe(2);
  expect(server.count('tools/list')).toBe(2);
  const used = new Set(server.seen.map(({ headers }) => [headers.authorization, headers['mcp-session-id']].join(' ')));
  expect(used).toEqual(new Set(['Bearer one ', 'Bearer one s1', 'Bearer two ', 'Bearer two s2']));
  expect(new Set(sent('x-team'))).toEqual(new Set(['blue']));
});

it('closes the sessions that were not used for longest when there are too many', async () => {
  const toolset = toolsetWith({ headers: bearer });

  for (let user = 0; user < 70; user += 1) await echo(toolset, contextOf(`user${user}`));

  await expect.poll(() => server.sessions.size).toBe(64);
});

it('costs a call an error when the headers cannot be had or sent, and tells no secret', async () => {
  const headers = ({ session }: ReadonlyContext): Record<string, string> => {
    const { token } = session.state;
    if (token === 'none') throw new Error('nobody is logged in');
    return { authorization: `Bearer ${String(token)}` };
  };
  const toolset = toolsetWith({ headers });
  const ctx = contextOf('good');
  const [tool] = await toolset.getTools(ctx.run);
  const call = async (token: string): Promise<unknown> => tool?.run?.({}, contextOf(token));

  await expect(call('none')).rejects.toMatchObject({
    code: 'McpToolsetException',
    message: 'The headers for the MCP server "double" could not be computed: nobody is logged in',
  });
  await expect(call('s3cret\r\nx-evil: 1')).rejects.toThrow(
    /^(?!.*s3cret).*"authorization" has characters that a header cannot have/,
  );
});

it('shows the server a key of its own', async () => {
  const auth = {
    authScheme: { type: 'apiKey', in: 'header', name: 'X-Key' },
    rawAuthCredential: { authType: 'apiKey', apiKey: 'k-1' },
  };

  await echo(toolsetWith({ auth }), toolContext());

  expect(new Set(sent('x-key'))).toEqual(new Set(['k-1']));
});

it('asks the user for access to a server that only they can give', async () => {
  const auth = {
    authScheme: {
      type: 'oauth2',
      flows: {
        authorizationCode: {
          authorizationUrl: 'https://id.example.com/a',
          tokenUrl: 'https://id.example.com/t',
          scopes: {},
        },
      },
    },
    rawAuthCredential: { authType: 'oauth2', oauth2: { clientId: 'me', clientSecret: 'x' } },
  };
  const toolset = toolsetWith({ auth, namePrefix: 'mail' });
  const ctx = toolContext();

  const tools = await toolset.getTools(ctx.run);
  const answer = await tools[0]?.run?.({}, ctx);

  expect(tools.map(({ name }) => name)).toEqual(['mail_request_access']);
  expect(answer).toMatchObject({ pending: true });
  expect(Object.keys(ctx.actions.requestedAuthConfigs)).toHaveLength(1);
  expect(server.seen).toEqual([]);
});
