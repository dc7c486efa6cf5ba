import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import type { Toolset } from '../../src/core/runtime.ts';
import { checkAgentYaml } from '../../src/loaders/yaml/check-file.ts';
import type { AccessLimits } from '../../src/tools/access-limits.ts';
import { openApiToolset } from '../../src/tools/openapi/toolset.ts';
import { runAll, say, testRunner } from '../support/run.ts';
import { type SilentServer, silentServer } from '../support/silent-server.ts';
import { toolContext } from '../tools/contexts.ts';
import { documentOf, echoService } from '../tools/openapi/echo-service.ts';
import { agentsDir, yamlAgent } from './agents-dir.ts';

const asWritten: AccessLimits = { publicOnly: false, machineCredential: 'google' };
const byBuilder: AccessLimits = { publicOnly: true, machineCredential: 'nowhere' };
const operation = `{ openapi: 3.0.0, info: { title: T, version: "1" }, paths: { /x: { get: { operationId: read } } } }`;
const openApi = (server: string, more = ''): string =>
  yamlAgent(
    'app',
    `tools:\n  - name: OpenAPIToolset\n    args:\n      server: ${server}\n      spec: ${operation}\n${more}`,
  );
const machine = `      auth_scheme: { type: http, scheme: bearer }
      auth_credential: { authType: serviceAccount, serviceAccount: { useDefaultCredential: true } }
`;

async function toolsetOf(text: string, limits: AccessLimits): Promise<Toolset> {
  const { rootAgent } = await agentsDir({ 'app/root_agent.yaml': text }).load({ limits }).loadAgent('app');
  return rootAgent.tools![0] as Toolset;
}

describe('hosts of this machine', () => {
  it('are asked where a file on disk names them, and not where the builder may have written it', async () => {
    const service = await echoService();
    const target = await silentServer();
    const read = async (url: string, limits: AccessLimits): Promise<unknown> => {
      const [tool] = await (await toolsetOf(openApi(url), limits)).getTools(toolContext().run);
      return tool!.run?.({}, toolContext());
    };

    expect(await read(service.url, asWritten)).toEqual({ method: 'GET', url: '/x' });
    expect(await read(target.url, byBuilder)).toEqual({ error: '"127.0.0.1" is not on the public internet' });
    expect(await read(target.url.replace('127.0.0.1', 'localhost'), byBuilder)).toMatchObject({
      error: expect.stringContaining('"localhost" is not on the public internet') as string,
    });
    expect(target.connections).toBe(0);
  });

  it.each([
    [
      'an MCP server',
      (url: string) => `tools:\n  - name: McpToolset\n    args:\n      sse_server_params: { url: "${url}" }\n`,
    ],
    [
      'an MCP server over streamable HTTP',
      (url: string) =>
        `tools:\n  - name: McpToolset\n    args:\n      streamable_http_connection_params: { url: "${url}" }\n`,
    ],
  ])('are not asked as %s', async (_name, tools) => {
    const target = await silentServer();
    const toolset = await toolsetOf(yamlAgent('app', tools(target.url)), byBuilder);
    onTestFinished(() => toolset.close());

    await expect(toolset.getTools(toolContext().run)).rejects.toThrow('is not on the public internet');
    expect(target.connections).toBe(0);
  });

  it('are not asked as a remote agent', async () => {
    const target = await silentServer();
    const text = `agent_class: RemoteA2aAgent\nname: far\nagent_card: ${target.url}\n`;
    const { rootAgent } = await agentsDir({ 'app/root_agent.yaml': text }).load({ limits: byBuilder }).loadAgent('app');
    const { runner, key } = await testRunner(rootAgent);

    const [event] = await runAll(runner, say(key, 'hi'));

    expect(event).toMatchObject({ errorCode: 'AgentCardResolutionError' });
    expect(target.connections).toBe(0);
  });

  it('are not asked because a document from elsewhere names them', async () => {
    const target = await silentServer();
    const spec = documentOf({ '/x': { get: { operationId: 'read' } } }, { servers: [{ url: target.url }] });

    const [tool] = await openApiToolset({ spec, baseUrl: 'https://api.example.com/openapi.json' }).getTools(
      toolContext().run,
    );

    expect(await tool!.run?.({}, toolContext())).toEqual({ error: '"127.0.0.1" is not on the public internet' });
    expect(target.connections).toBe(0);
  });
});

describe('the credential of the machine', () => {
  let metadata: SilentServer;
  beforeEach(async () => {
    metadata = await silentServer();
    vi.stubEnv('GCE_METADATA_HOST', `127.0.0.1:${metadata.port}`);
  });
  afterEach(() => {
    vi.unstubAllEnvs();
  });

  it.each([
    ['a service of one\u2019s own', 'https://attacker.example', asWritten],
    ['a host that looks like one of Google', 'https://googleapis.com.evil.example', asWritten],
    ['Google without encryption', 'http://storage.googleapis.com', asWritten],
    ['Google, where the builder may have written it', 'https://storage.googleapis.com', byBuilder],
  ])('does not go to %s because YAML says so', async (_name, server, limits) => {
    const toolset = await toolsetOf(openApi(server, machine), limits);

    await expect(toolset.getTools(toolContext().run)).rejects.toMatchObject({
      code: 'ConfigurationException',
      message: expect.stringContaining('--allow-config-credentials') as string,
    });
    expect(metadata.connections).toBe(0);
  });

  it('does not go to an MCP server because YAML says so', async () => {
    const target = await silentServer();
    const tools = `tools:
  - name: McpToolset
    args:
      streamable_http_connection_params: { url: "${target.url}" }
${machine}`;

    const loading = toolsetOf(yamlAgent('app', tools), asWritten);

    await expect(loading).rejects.toThrow('--allow-config-credentials');
    expect([metadata.connections, target.connections]).toEqual([0, 0]);
  });

  it('may be used for Google, and for others once the operator allows it', async () => {
    const listed = async (server: string, limits: AccessLimits): Promise<string[]> => {
      const tools = await (await toolsetOf(openApi(server, machine), limits)).getTools(toolContext().run);
      return tools.map(({ name }) => name);
    };

    expect(await listed('https://storage.googleapis.com', asWritten)).toEqual(['read']);
    expect(await listed('https://own.example', { machineCredential: 'anywhere' })).toEqual(['read']);
  });
});

describe('a file that comes from outside', () => {
  it.each([
    ['an address of this machine', openApi('http://127.0.0.1:9650/x')],
    ['a name of this machine', openApi('http://LocalHost:9650/x')],
    ['another spelling of it', openApi('http://0x7f.1/')],
    ['the metadata server', openApi('http://169.254.169.254/computeMetadata')],
    ['a private address', openApi('http://[fd00::1]/')],
    ['a card on this machine', 'agent_class: RemoteA2aAgent\nname: far\nagent_card: http://[::1]:8000\n'],
    ['the credential of the machine', openApi('https://storage.googleapis.com', machine)],
    [
      'it in the spelling of Python',
      openApi('https://a.example', machine.replace('useDefaultCredential', 'use_default_credential')),
    ],
  ])('may not name %s', (_name, text) => {
    expect(() => checkAgentYaml(text, 'app/root_agent.yaml', byBuilder)).toThrow(
      /--allow-config-(?:private-hosts|credentials)/,
    );
    expect(() => checkAgentYaml(text, 'app/root_agent.yaml')).not.toThrow();
  });

  it('may speak of them', () => {
    const text = 'name: a\ninstruction: "Our page is at http://localhost:3000, tell them."\n';

    expect(() => checkAgentYaml(text, 'app/root_agent.yaml', byBuilder)).not.toThrow();
  });
});

it('asks no endpoint on this machine that a discovered document names', async () => {
  const target = await silentServer();
  const { CredentialSource } = await import('../../src/tools/auth/credential-source.ts');
  const server = createServer((_request, response) => {
    const metadata = { issuer: url, authorization_endpoint: `${url}/a`, token_endpoint: `${target.url}/token` };
    response.setHeader('content-type', 'application/json').end(JSON.stringify(metadata));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const source = new CredentialSource({
    authScheme: { type: 'openIdConnect', openIdConnectUrl: `${url}/.well-known/openid-configuration` },
    rawAuthCredential: {
      authType: 'openIdConnect',
      oauth2: { clientId: 'c', clientSecret: 's', redirectUri: 'https://us.example/cb' },
    },
    credentialKey: 'k',
  });
  const asking = toolContext();
  await source.get(asking);
  const asked = Object.values(asking.actions.requestedAuthConfigs)[0] as {
    exchangedAuthCredential: { oauth2: { state: string } };
  };
  const { state } = asked.exchangedAuthCredential.oauth2;
  const oauth2 = { authResponseUri: `https://us.example/cb?code=1&state=${state}` };
  const answered = {
    ...toolContext(),
    getAuthResponse: () => ({ exchangedAuthCredential: { authType: 'openIdConnect', oauth2 } }),
  };

  await expect(source.get(answered)).rejects.toMatchObject({ code: 'forbidden' });
  expect(target.connections).toBe(0);
});
