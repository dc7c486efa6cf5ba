import { createHash } from 'node:crypto';
import { expect, it, vi } from 'vitest';
import type { JsonObject } from '../../../src/base/json.ts';
import type { ToolContext } from '../../../src/core/runtime.ts';
import { CredentialSource } from '../../../src/tools/auth/credential-source.ts';
import { credentialExchanger } from '../../../src/tools/auth/exchange.ts';
import { isOwnState, newState, verifierFor } from '../../../src/tools/auth/oauth-state.ts';
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
  const request = { owner: asking.session, functionCallId: 'c1', authConfig: asked, answer };
  const kept = await credentialExchanger().exchange(request, asking.signal);
  return source.get(contextOf(userId, kept));
}

it('asks the user at the right address and shows no secret', async () => {
  const server = await authorizationServer();
  const ctx = contextOf();

  expect(await new CredentialSource(configFor(server)).get(ctx)).toBeUndefined();

  const asked = await credentialExchanger().prepare(
    { owner: ctx.session, functionCallId: 'c1', authConfig: askedBy(ctx) },
    ctx.signal,
  );
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

it('tells the server the address that was configured, wherever the client says that the user came back to', async () => {
  const server = await authorizationServer();
  const ctx = contextOf();
  const source = new CredentialSource(configFor(server));
  await source.get(ctx);
  const back = server.consent(authUriOf(askedBy(ctx))).replace(redirectUri, 'https://evil.example/cb');

  expect(await source.get(contextOf('ada', answerTo(askedBy(ctx), back)))).toHaveProperty('oauth2.accessToken');
  expect(server.requests[0]?.get('redirect_uri')).toBe(redirectUri);
});

it('takes the address the user came back to from the client, as the UI sets it, where none is configured', async () => {
  const server = await authorizationServer();
  const ctx = contextOf();
  const source = new CredentialSource({
    ...configFor(server),
    rawAuthCredential: { authType: 'oauth2', oauth2: client },
  });
  await source.get(ctx);
  const elsewhere = 'https://agents.example.com/dev-ui/';
  const answer = answerTo(askedBy(ctx), server.consent(authUriOf(askedBy(ctx)), elsewhere));

  expect(await source.get(contextOf('ada', answer))).toHaveProperty('oauth2.accessToken');
  expect(server.requests[0]?.get('redirect_uri')).toBe(elsewhere);
});

it('takes an answer once', async () => {
  const server = await authorizationServer();
  const ctx = contextOf();
  const source = new CredentialSource(configFor(server));
  await source.get(ctx);
  const answer = answerTo(askedBy(ctx), server.consent(authUriOf(askedBy(ctx))));
  await source.get(contextOf('ada', answer));

  const again = new CredentialSource(configFor(server)).get(contextOf('ada', answer));

  await expect(again).rejects.toMatchObject({ code: 'unauthenticated' });
  expect(server.requests).toHaveLength(1);
});

it('lets nobody make the verifier or a state of a client without a secret', async () => {
  const server = await authorizationServer();
  const open: JsonObject = {
    ...configFor(server),
    rawAuthCredential: { authType: 'oauth2', oauth2: { clientId: client.clientId, redirectUri } },
  };
  const ctx = contextOf();
  const source = new CredentialSource(open);
  await source.get(ctx);
  const asked = new URL(authUriOf(askedBy(ctx))).searchParams;
  const request = { owner: ctx.session, credentialKey: 'mail', secret: client.clientId };

  const guessed = createHash('sha256')
    .update(verifierFor(asked.get('state') ?? '', request))
    .digest('base64url');
  const forged = answerTo(askedBy(ctx), `${redirectUri}?code=x&state=${newState(request)}`);

  expect(guessed).not.toBe(asked.get('code_challenge'));
  await expect(source.get(contextOf('ada', forged))).rejects.toMatchObject({ code: 'unauthenticated' });
  expect(server.requests).toEqual([]);
});

it('takes no answer after the time to sign in', () => {
  const request = { owner: { appName: 'app', userId: 'ada' }, credentialKey: 'mail', secret: 's' };
  vi.useFakeTimers({ now: 1_700_000_000_000 });
  try {
    const state = newState(request);
    expect(isOwnState(state, request)).toBe(true);
    vi.setSystemTime(1_700_000_000_000 + 3_601_000);
    expect(isOwnState(state, request)).toBe(false);
  } finally {
    vi.useRealTimers();
  }
});

it('takes no state whose proof has as many characters as a real one, and more bytes', () => {
  const request = { owner: { appName: 'app', userId: 'ada' }, credentialKey: 'mail', secret: 's' };

  expect(isOwnState(newState(request).replace(/.$/, 'é'), request)).toBe(false);
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

  await source.invalidate(contextOf());
  expect(await source.get(contextOf())).toMatchObject({ oauth2: { accessToken: 'access-2' } });

  await source.invalidate(contextOf());
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
  const exchanger = credentialExchanger();
  const request = { owner: session, functionCallId: 'c1' };

  const authConfig = await exchanger.seal({ ...request, authConfig: configFor(server) });
  const shown = await exchanger.prepare({ ...request, authConfig }, signal);
  expect(JSON.stringify([authConfig, shown])).not.toContain(client.clientSecret);
  const answer = answerTo(shown, server.consent(authUriOf(shown)));

  expect(await exchanger.exchange({ ...request, authConfig, answer }, signal)).toMatchObject({
    authType: 'oauth2',
    oauth2: { accessToken: 'access-1' },
  });
  expect(await exchanger.exchange({ ...request, authConfig, answer: {} }, signal)).toBeUndefined();
});

it('trades nothing at a server that no tool of ours named', async () => {
  const server = await authorizationServer();
  const { session, signal } = contextOf();
  const exchanger = credentialExchanger();
  const request = { owner: session, functionCallId: 'c1' };
  const shown = await exchanger.prepare({ ...request, authConfig: configFor(server) }, signal);
  const answer = answerTo(shown, server.consent(authUriOf(shown)));
  const sealed = await exchanger.seal({ ...request, authConfig: configFor(server) });
  const other = credentialExchanger(() => Promise.resolve('another server'));

  const forged = await exchanger.exchange({ ...request, authConfig: configFor(server), answer }, signal);
  const moved = await exchanger.exchange({ ...request, functionCallId: 'c2', authConfig: sealed, answer }, signal);
  const foreign = await other.exchange({ ...request, authConfig: sealed, answer }, signal);

  expect([forged, moved, foreign]).toEqual([undefined, undefined, undefined]);
  expect(server.requests).toEqual([]);
});
