import { expect, it } from 'vitest';
import type { JsonObject } from '../../../src/base/json.ts';
import type { ToolContext } from '../../../src/core/runtime.ts';
import { CredentialSource } from '../../../src/tools/auth/credential-source.ts';
import { credentialExchanger } from '../../../src/tools/auth/exchange.ts';
import { toolContext } from '../contexts.ts';
import { type AuthorizationServer, authorizationServer, client, redirectUri } from './authorization-server.ts';

const configFor = ({ url }: AuthorizationServer): JsonObject => ({
  authScheme: {
    type: 'oauth2',
    flows: {
      authorizationCode: {
        authorizationUrl: `${url}/authorize`,
        tokenUrl: `${url}/token`,
        scopes: { 'mail.read': 'Read', openid: 'Sign in' },
      },
    },
  },
  rawAuthCredential: { authType: 'oauth2', oauth2: { ...client, redirectUri } },
  credentialKey: 'mail',
});

const contextOf = (userId = 'ada', answer?: JsonObject): ToolContext => ({
  ...toolContext({ session: { id: 's1', appName: 'app', userId, state: {}, events: [], lastUpdateTime: 0 } }),
  getAuthResponse: () => answer,
});
const askedBy = (ctx: ToolContext): JsonObject => Object.values(ctx.actions.requestedAuthConfigs)[0] as JsonObject;
const authUriOf = (config: JsonObject): string =>
  (config as { exchangedAuthCredential: { oauth2: { authUri: string } } }).exchangedAuthCredential.oauth2.authUri;

/** What a client sends once the user has come back. */
const answerTo = (config: JsonObject, authResponseUri: string): JsonObject => ({
  ...config,
  exchangedAuthCredential: { authType: 'oauth2', oauth2: { authResponseUri, redirectUri } },
});

async function granted(source: CredentialSource, server: AuthorizationServer, userId = 'ada'): Promise<unknown> {
  const asking = contextOf(userId);
  await source.get(asking);
  const asked = askedBy(asking);
  const answer = answerTo(asked, server.consent(authUriOf(asked)));
  const kept = await credentialExchanger.exchange({ owner: asking.session, authConfig: asked, answer }, asking.signal);
  return source.get(contextOf(userId, kept));
}

it('asks the user at the right address and shows no secret', async () => {
  const server = await authorizationServer();
  const ctx = contextOf();

  expect(await new CredentialSource(configFor(server)).get(ctx)).toBeUndefined();

  const asked = await credentialExchanger.prepare(askedBy(ctx), ctx.session, ctx.signal);
  expect(asked).toEqual(askedBy(ctx));
  expect(JSON.stringify(asked)).not.toContain(client.clientSecret);
  expect(asked).toMatchObject({ credentialKey: 'mail', authScheme: configFor(server)['authScheme'] });
  const address = new URL(authUriOf(asked));
  expect(address.origin + address.pathname).toBe(`${server.url}/authorize`);
  expect(Object.fromEntries(address.searchParams)).toMatchObject({
    client_id: client.clientId,
    redirect_uri: redirectUri,
    response_type: 'code',
    scope: 'mail.read openid',
    access_type: 'offline',
    prompt: 'consent',
    code_challenge_method: 'S256',
  });
});

it('trades the answer for a token, and needs no second answer', async () => {
  const server = await authorizationServer();
  const source = new CredentialSource(configFor(server));

  expect(await granted(source, server)).toMatchObject({ oauth2: { accessToken: 'access-1' } });
  expect(await source.get(contextOf())).toMatchObject({ oauth2: { accessToken: 'access-1' } });
  expect(server.requests).toHaveLength(1);
});

it('takes an answer given to another process, for nothing is kept in between', async () => {
  const server = await authorizationServer();
  const ctx = contextOf();
  await new CredentialSource(configFor(server)).get(ctx);
  const asked = JSON.parse(JSON.stringify(askedBy(ctx))) as JsonObject;
  const answer = answerTo(asked, server.consent(authUriOf(asked)));

  const restarted = new CredentialSource(configFor(server));

  expect(await restarted.get(contextOf('ada', answer))).toMatchObject({ oauth2: { accessToken: 'access-1' } });
});

it('takes the address the user came back to from the client, as the UI sets it', async () => {
  const server = await authorizationServer();
  const ctx = contextOf();
  const source = new CredentialSource(configFor(server));
  await source.get(ctx);
  const elsewhere = 'https://agents.example.com/dev-ui/';
  const answer = answerTo(askedBy(ctx), server.consent(authUriOf(askedBy(ctx)), elsewhere));

  expect(await source.get(contextOf('ada', answer))).toHaveProperty('oauth2.accessToken');
  expect(server.requests[0]?.get('redirect_uri')).toBe(elsewhere);
});

it('does not take an answer that another user was asked for, or nobody', async () => {
  const server = await authorizationServer();
  const source = new CredentialSource(configFor(server));
  const ctx = contextOf();
  await source.get(ctx);
  const answer = answerTo(askedBy(ctx), server.consent(authUriOf(askedBy(ctx))));
  const forged = answerTo(askedBy(ctx), `${redirectUri}?code=stolen&state=made.up`);

  await expect(source.get(contextOf('mallory', answer))).rejects.toMatchObject({ code: 'unauthenticated' });
  await expect(source.get(contextOf('ada', forged))).rejects.toMatchObject({ code: 'unauthenticated' });
  await expect(source.get(contextOf('ada', answerTo(askedBy(ctx), 'nowhere')))).rejects.toMatchObject({
    code: 'unauthenticated',
  });
  expect(server.requests).toHaveLength(0);
});

it("tells the model of a refusal in the authorization server's words, without secrets", async () => {
  const server = await authorizationServer();
  const source = new CredentialSource(configFor(server));
  const ctx = contextOf();
  await source.get(ctx);
  const { searchParams } = new URL(authUriOf(askedBy(ctx)));
  const back = (query: string): JsonObject =>
    answerTo(askedBy(ctx), `${redirectUri}?${query}&state=${searchParams.get('state')}`);

  await expect(source.get(contextOf('ada', back('error=access_denied')))).rejects.toThrow('access_denied');
  await expect(source.get(contextOf('ada', back('code=wrong')))).rejects.toThrow('invalid_grant (no invalid_grant)');
});

it('keeps the tokens of users apart', async () => {
  const server = await authorizationServer();
  const source = new CredentialSource(configFor(server));
  await granted(source, server, 'ada');

  const bob = contextOf('bob');
  expect(await source.get(bob)).toBeUndefined();
  expect(Object.keys(bob.actions.requestedAuthConfigs)).toHaveLength(1);
  expect(await granted(source, server, 'bob')).toMatchObject({ oauth2: { accessToken: 'access-2' } });
  expect(await source.get(contextOf('ada'))).toMatchObject({ oauth2: { accessToken: 'access-1' } });
});

it('renews a token that is about to end, once for parallel calls', async () => {
  const server = await authorizationServer();
  server.lifetime = 30;
  const source = new CredentialSource(configFor(server));
  await granted(source, server);
  server.lifetime = 3600;

  const both = await Promise.all([source.get(contextOf()), source.get(contextOf())]);

  expect(both).toMatchObject([{ oauth2: { accessToken: 'access-2' } }, { oauth2: { accessToken: 'access-2' } }]);
  expect(server.requests.map((form) => form.get('grant_type'))).toEqual(['authorization_code', 'refresh_token']);
});

it('renews a token the service refused, and asks again when it cannot', async () => {
  const server = await authorizationServer();
  const source = new CredentialSource(configFor(server));
  await granted(source, server);
  server.refreshes = false;

  await source.refused(contextOf());
  expect(await source.get(contextOf())).toMatchObject({ oauth2: { accessToken: 'access-2' } });

  await source.refused(contextOf());
  const ctx = contextOf();
  expect(await source.get(ctx)).toBeUndefined();
  expect(authUriOf(askedBy(ctx))).toContain('/authorize?');
});

it('finds the endpoints of an OpenID provider by itself', async () => {
  const server = await authorizationServer();
  const source = new CredentialSource({
    auth_scheme: { type: 'openIdConnect', open_id_connect_url: `${server.url}/.well-known/openid-configuration` },
    raw_auth_credential: {
      auth_type: 'openIdConnect',
      oauth2: { client_id: client.clientId, client_secret: client.clientSecret, redirect_uri: redirectUri },
    },
  });

  expect(await granted(source, server)).toMatchObject({ oauth2: { accessToken: 'access-1' } });
});

it('deals with a config a tool has put together by itself', async () => {
  const server = await authorizationServer();
  const { session, signal } = contextOf();
  const authConfig = configFor(server);

  const shown = await credentialExchanger.prepare(authConfig, session, signal);
  expect(JSON.stringify(shown)).not.toContain(client.clientSecret);
  const answer = answerTo(shown, server.consent(authUriOf(shown)));

  expect(await credentialExchanger.exchange({ owner: session, authConfig, answer }, signal)).toMatchObject({
    authType: 'oauth2',
    oauth2: { accessToken: 'access-1' },
  });
  expect(await credentialExchanger.exchange({ owner: session, authConfig, answer: {} }, signal)).toBeUndefined();
});
