import { expect, it } from 'vitest';
import { llmAgent } from '../../../src/agents/llm-agent.ts';
import type { JsonObject } from '../../../src/base/json.ts';
import type { Agent } from '../../../src/core/runtime.ts';
import { type Event, functionCalls, functionResponses } from '../../../src/schemas/event.ts';
import { sessionJson } from '../../../src/schemas/session.ts';
import { credentialExchanger } from '../../../src/tools/auth/exchange.ts';
import { openApiToolset } from '../../../src/tools/openapi/toolset.ts';
import { pendingRequests } from '../../../src/tools/pending-requests.ts';
import { call, calls, type ReplyModel, replyModel, text } from '../../support/reply-model.ts';
import { runAll, say, testRunner } from '../../support/run.ts';
import { documentOf, echoService, type EchoService } from '../openapi/echo-service.ts';
import { type AuthorizationServer, authorizationServer, client, redirectUri } from './authorization-server.ts';

const mailAgent = (model: ReplyModel, service: EchoService, { url }: AuthorizationServer): Agent =>
  llmAgent({
    name: 'mailer',
    model,
    tools: [
      openApiToolset({
        server: service.url,
        spec: documentOf(
          { '/mail': { get: { operationId: 'readMail' } } },
          {
            security: [{ mail: [] }],
            components: {
              securitySchemes: {
                mail: {
                  type: 'oauth2',
                  flows: {
                    authorizationCode: {
                      authorizationUrl: `${url}/auth`,
                      tokenUrl: `${url}/token`,
                      scopes: { read: '' },
                    },
                  },
                },
              },
            },
          },
        ),
        credentials: { mail: { authType: 'oauth2', oauth2: { ...client, redirectUri } } },
      }),
    ],
  });

interface Asked {
  readonly id: string;
  readonly authConfig: { readonly exchangedAuthCredential: { readonly oauth2: { readonly authUri: string } } };
}

const askedIn = (events: readonly Event[]): Asked => {
  const request = events.flatMap(functionCalls).find(({ name }) => name === 'adk_request_credential');
  return { id: request?.id ?? '', authConfig: request?.args?.['authConfig'] as Asked['authConfig'] };
};

const answer = ({ id, authConfig }: Asked, authResponseUri: string): JsonObject => {
  const oauth2 = { ...authConfig.exchangedAuthCredential.oauth2, authResponseUri, redirectUri };
  const response = { ...authConfig, exchangedAuthCredential: { authType: 'oauth2', oauth2 } };
  return {
    newMessage: { role: 'user', parts: [{ functionResponse: { id, name: 'adk_request_credential', response } }] },
  };
};

it('asks the user in one run and goes on in the next, also in a server that was started since', async () => {
  const service = await echoService();
  const server = await authorizationServer();
  const first = await testRunner(
    mailAgent(replyModel(calls(call('read_mail')), text('Please sign in.')), service, server),
    {
      credentials: credentialExchanger(),
    },
  );
  const asked = askedIn(await runAll(first.runner, say(first.key, 'Any mail?')));
  const { events } = (await first.services.sessions.getSession(first.key))!;
  expect(pendingRequests(events)).toMatchObject([{ kind: 'credential', interruptId: asked.id }]);
  expect(service.received).toEqual([]);

  const model = replyModel(text('No mail.'));
  const second = await testRunner(mailAgent(model, service, server), { credentials: credentialExchanger() });
  const key = { ...second.key, sessionId: first.key.sessionId, userId: first.key.userId };
  const stored = JSON.parse(JSON.stringify(events)) as Event[];
  await second.services.sessions.createSession(key, { sessionId: key.sessionId, events: stored });
  const back = server.consent(asked.authConfig.exchangedAuthCredential.oauth2.authUri);
  const answered = await runAll(second.runner, say(key, '', answer(asked, back)));

  expect(service.received.map(({ url, headers }) => [url, headers.authorization])).toEqual([
    ['/mail', 'Bearer access-1'],
  ]);
  expect(answered.flatMap(functionResponses)).toMatchObject([{ name: 'read_mail', response: { url: '/mail' } }]);
  expect(model.requests).toHaveLength(1);
  const session = (await second.services.sessions.getSession(key))!;
  expect(pendingRequests(session.events)).toEqual([]);
  expect(sessionJson(session)).not.toContain(client.clientSecret);
  expect(sessionJson(session)).not.toContain('access-1');
});

it('tells the model when the user refuses, and asks again at the next call', async () => {
  const service = await echoService();
  const server = await authorizationServer();
  const model = replyModel(calls(call('read_mail')), text('Sign in.'), text('You refused.'), calls(call('read_mail')));
  const { runner, key } = await testRunner(mailAgent(model, service, server), { credentials: credentialExchanger() });
  const asked = askedIn(await runAll(runner, say(key, 'Any mail?')));
  const state = new URL(asked.authConfig.exchangedAuthCredential.oauth2.authUri).searchParams.get('state');

  const refused = await runAll(
    runner,
    say(key, '', answer(asked, `${redirectUri}?error=access_denied&state=${state}`)),
  );
  const again = askedIn(await runAll(runner, say(key, 'Try again')));

  expect(refused.flatMap(functionResponses)).toMatchObject([
    { name: 'read_mail', response: { error: expect.stringContaining('access_denied') as string } },
  ]);
  expect(again.id).not.toBe(asked.id);
  expect(service.received).toEqual([]);
});
