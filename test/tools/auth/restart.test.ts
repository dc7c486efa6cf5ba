import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { llmAgent } from '../../../src/agents/llm-agent.ts';
import type { Tool } from '../../../src/core/runtime.ts';
import { type Event, functionCalls, functionResponses } from '../../../src/schemas/event.ts';
import { sessionJson } from '../../../src/schemas/session.ts';
import { openServices } from '../../../src/services/open-services.ts';
import { credentialExchanger } from '../../../src/tools/auth/exchange.ts';
import { authenticatedTool } from '../../../src/tools/authenticated-tool.ts';
import { functionTool } from '../../../src/tools/function-tool.ts';
import { call, calls, replyModel, text } from '../../support/reply-model.ts';
import { runAll, say, testRunner } from '../../support/run.ts';
import { type AuthorizationServer, authorizationServer, client, redirectUri } from './authorization-server.ts';

const configFor = ({ url }: AuthorizationServer) => ({
  authScheme: {
    type: 'oauth2',
    flows: { authorizationCode: { authorizationUrl: `${url}/authorize`, tokenUrl: `${url}/token`, scopes: {} } },
  },
  rawAuthCredential: { authType: 'oauth2', oauth2: { ...client, redirectUri } },
  credentialKey: 'mail',
});

const tools: [string, (server: AuthorizationServer) => Tool][] = [
  [
    'a tool that has its credential got',
    (server) =>
      authenticatedTool({
        name: 'mail',
        description: 'Reads mail.',
        auth: configFor(server),
        run: (_args, _ctx, { oauth2 }) => ({ token: oauth2?.accessToken?.slice(0, 6) }),
      }),
  ],
  [
    'a tool that asks by itself',
    (server) =>
      functionTool({
        name: 'mail',
        description: 'Reads mail.',
        run: (_args, ctx) => {
          const given = ctx.getAuthResponse(configFor(server)) as { oauth2?: { accessToken?: string } } | undefined;
          if (given) return { token: given.oauth2?.accessToken?.slice(0, 6) };
          ctx.requestCredential(configFor(server));
          return { pending: true };
        },
      }),
  ],
];

it.each(tools)('trades a code for %s after a restart, for the database keeps what it takes', async (_name, toolFor) => {
  const folder = mkdtempSync(join(tmpdir(), 'agent-restart-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const server = await authorizationServer();
  const model = replyModel(calls(call('mail')), text('No mail.'));
  const start = async () => {
    const { sessions, runs, databases } = openServices({
      sessionService: `sqlite:${join(folder, 's.db')}`,
      artifactService: 'memory:',
      memoryService: 'memory:',
    });
    const credentials = credentialExchanger(() => runs!.secret());
    const agent = llmAgent({ name: 'mailer', model, tools: [toolFor(server)] });
    return { sessions, databases, ...(await testRunner(agent, { services: { sessions }, credentials })) };
  };
  const first = await start();
  const { key } = first;
  await first.sessions.createSession(key, { sessionId: key.sessionId });
  const asked = await runAll(first.runner, say(key, 'Any mail?'));
  await first.databases.close();

  const second = await start();
  onTestFinished(() => second.databases.close());
  const question = asked.flatMap(functionCalls).find(({ name }) => name === 'adk_request_credential');
  const answered = await runAll(second.runner, say(key, '', { newMessage: answerTo(question, server) }));
  const session = (await second.sessions.getSession(key))!;

  expect(answered.flatMap(functionResponses)).toMatchObject([{ name: 'mail', response: { token: 'access' } }]);
  expect(server.requests).toHaveLength(1);
  for (const secret of [client.clientSecret, 'access-1', 'code=']) expect(sessionJson(session)).not.toContain(secret);
});

function answerTo(question: ReturnType<typeof functionCalls>[number] | undefined, server: AuthorizationServer): object {
  const shown = question?.args?.['authConfig'] as { exchangedAuthCredential: { oauth2: { authUri: string } } };
  const { oauth2 } = shown.exchangedAuthCredential;
  const authResponseUri = server.consent(oauth2.authUri);
  const response = {
    ...shown,
    exchangedAuthCredential: { authType: 'oauth2', oauth2: { ...oauth2, authResponseUri } },
  };
  return {
    role: 'user',
    parts: [{ functionResponse: { id: question?.id, name: 'adk_request_credential', response } }],
  };
}

it('shows the secret of a client to nobody who reads the events of a tool that asks by itself', async () => {
  const server = await authorizationServer();
  const model = replyModel(calls(call('mail')), text('Sign in.'));
  const agent = llmAgent({ name: 'mailer', model, tools: [tools[1]![1](server)] });
  const { runner, key } = await testRunner(agent, { credentials: credentialExchanger() });

  const events: Event[] = await runAll(runner, say(key, 'Any mail?'));

  expect(JSON.stringify(events)).toContain('requestedAuthConfigs');
  expect(JSON.stringify(events)).not.toContain(client.clientSecret);
});
