import { createPublicKey, generateKeyPairSync, verify } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import type { JsonObject } from '../../../src/base/json.ts';
import type { ToolContext } from '../../../src/core/runtime.ts';
import { credentialAdditions } from '../../../src/tools/auth/apply-credential.ts';
import type { AuthCredential } from '../../../src/tools/auth/auth-config.ts';
import { CredentialSource } from '../../../src/tools/auth/credential-source.ts';
import { InMemoryCredentials } from '../../../src/tools/auth/credential-store.ts';
import { authenticatedTool } from '../../../src/tools/authenticated-tool.ts';
import { toolContext } from '../contexts.ts';
import { authorizationServer, client } from './authorization-server.ts';

const shown = async (config: JsonObject): Promise<unknown> => {
  const source = new CredentialSource(config);
  const credential = (await source.get(toolContext())) as AuthCredential;
  return credentialAdditions(source.config.authScheme, credential);
};
const nothing = { headers: {}, query: {}, cookies: {} };

it('shows an API key where the scheme wants it', async () => {
  const rawAuthCredential = { authType: 'apiKey', apiKey: 'k-1' };
  const at = (place: string): JsonObject => ({
    authScheme: { type: 'apiKey', in: place, name: 'X-Key' },
    rawAuthCredential,
  });

  expect(await shown(at('header'))).toEqual({ ...nothing, headers: { 'X-Key': 'k-1' } });
  expect(await shown(at('query'))).toEqual({ ...nothing, query: { 'X-Key': 'k-1' } });
  expect(await shown(at('cookie'))).toEqual({ ...nothing, cookies: { 'X-Key': 'k-1' } });
});

it('shows bearer tokens, basic credentials and schemes of other names', async () => {
  const http = (scheme: string, credentials: JsonObject): JsonObject => ({
    authScheme: { type: 'http', scheme },
    rawAuthCredential: { authType: 'http', http: { scheme, credentials } },
  });

  expect(await shown(http('bearer', { token: 't' }))).toEqual({ ...nothing, headers: { authorization: 'Bearer t' } });
  expect(await shown(http('basic', { username: 'ada', password: 'pä' }))).toEqual({
    ...nothing,
    headers: { authorization: `Basic ${Buffer.from('ada:pä').toString('base64')}` },
  });
  expect(await shown(http('Token', { token: 't' }))).toEqual({ ...nothing, headers: { authorization: 'Token t' } });
});

it('gets a token for the client itself, once', async () => {
  const server = await authorizationServer();
  const source = new CredentialSource({
    authScheme: {
      type: 'oauth2',
      flows: { clientCredentials: { tokenUrl: `${server.url}/token`, scopes: { a: '', b: '' } } },
    },
    rawAuthCredential: { authType: 'oauth2', oauth2: { ...client, audience: 'api' } },
  });

  const tokens = await Promise.all([source.get(toolContext()), source.get(toolContext())]);
  await source.get(toolContext());

  expect(tokens).toMatchObject([{ oauth2: { accessToken: 'access-1' } }, { oauth2: { accessToken: 'access-1' } }]);
  expect(server.requests.map((form) => Object.fromEntries(form))).toEqual([
    {
      grant_type: 'client_credentials',
      scope: 'a b',
      audience: 'api',
      client_id: client.clientId,
      client_secret: client.clientSecret,
    },
  ]);
  await source.invalidate(toolContext());
  expect(await source.get(toolContext())).toMatchObject({ oauth2: { accessToken: 'access-2' } });
});

it('does not let one cancelled call take the others with it', async () => {
  const server = await authorizationServer();
  const source = new CredentialSource({
    authScheme: { type: 'oauth2', flows: { clientCredentials: { tokenUrl: `${server.url}/token` } } },
    rawAuthCredential: { authType: 'oauth2', oauth2: client },
  });
  const cancel = new AbortController();

  const cancelled = source.get(toolContext({ signal: cancel.signal }));
  const other = source.get(toolContext());
  cancel.abort(new Error('cancelled'));

  await expect(cancelled).rejects.toThrow('cancelled');
  expect(await other).toHaveProperty('oauth2.accessToken');
});

it('signs for a service account at the token server of its key', async () => {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const asked: JsonObject[] = [];
  const server = createServer((request, response) => {
    void (async () => {
      let text = '';
      for await (const chunk of request) text += String(chunk);
      const [header = '', claims = '', signature = ''] = (new URLSearchParams(text).get('assertion') ?? '').split('.');
      const isSigned = verify(
        'sha256',
        Buffer.from(`${header}.${claims}`),
        createPublicKey(publicKey.export({ type: 'spki', format: 'pem' })),
        Buffer.from(signature, 'base64url'),
      );
      asked.push({ isSigned, ...(JSON.parse(Buffer.from(claims, 'base64url').toString()) as JsonObject) });
      response.setHeader('content-type', 'application/json');
      response.end(
        JSON.stringify(
          asked.at(-1)?.target_audience ? { id_token: 'id-1' } : { access_token: 'sa-1', expires_in: 3600 },
        ),
      );
    })();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const tokenUri = `http://127.0.0.1:${(server.address() as AddressInfo).port}/token`;
  const config = (more: JsonObject): JsonObject => ({
    authScheme: { type: 'http', scheme: 'bearer' },
    rawAuthCredential: {
      authType: 'serviceAccount',
      serviceAccount: {
        serviceAccountCredential: {
          client_email: 'robot@project.iam',
          private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }),
          token_uri: tokenUri,
        },
        ...more,
      },
    },
  });

  expect(await shown(config({ scopes: ['a', 'b'] }))).toMatchObject({ headers: { authorization: 'Bearer sa-1' } });
  expect(await shown(config({ useIdToken: true, audience: 'https://api' }))).toMatchObject({
    headers: { authorization: 'Bearer id-1' },
  });
  expect(asked).toMatchObject([
    { isSigned: true, iss: 'robot@project.iam', aud: tokenUri, scope: 'a b' },
    { isSigned: true, target_audience: 'https://api' },
  ]);
  await expect(shown(config({ useIdToken: true }))).rejects.toMatchObject({ code: 'ConfigurationException' });
});

it('runs a tool only once the user has given its key, and gives it the key', async () => {
  const tool = authenticatedTool({
    name: 'send',
    description: 'Sends.',
    auth: { authScheme: { type: 'apiKey', in: 'header', name: 'X-Key' }, credentialKey: 'mail' },
    run: (_args, _ctx, credential) => `sent with ${credential.apiKey}`,
  });
  const asking = toolContext();
  const answer = { exchangedAuthCredential: { authType: 'apiKey', apiKey: 'k-1' } };
  const answered: ToolContext = {
    ...toolContext(),
    getAuthResponse: ({ credentialKey }) => (credentialKey === 'mail' ? answer : undefined),
  };

  expect(await tool.run?.({}, asking)).toMatchObject({ pending: true });
  expect(Object.values(asking.actions.requestedAuthConfigs)).toMatchObject([{ credentialKey: 'mail' }]);
  expect(await tool.run?.({}, answered)).toBe('sent with k-1');
  expect(await tool.run?.({}, toolContext())).toBe('sent with k-1');
});

it('refuses configurations that cannot work, naming what is wrong', async () => {
  const refusal = expect.objectContaining({ code: 'ConfigurationException' }) as Error;
  expect(() => new CredentialSource({})).toThrow(refusal);
  expect(() => new CredentialSource({ authScheme: { type: 'apiKey', in: 'body', name: 'x' } })).toThrow(refusal);

  const raw = { authType: 'oauth2', oauth2: { clientId: 'x' } };
  const noUrl = { authScheme: { type: 'oauth2', flows: { authorizationCode: {} } }, rawAuthCredential: raw };
  await expect(new CredentialSource(noUrl).get(toolContext())).rejects.toThrow(/tokenUrl/);
  expect(() => credentialAdditions({ type: 'apiKey', in: 'header', name: 'x' }, { authType: 'oauth2' })).toThrow(
    refusal,
  );
});

it('gives configurations of one scheme and client the same key, without secrets in it', () => {
  const config = (clientSecret: string, clientId = 'c'): JsonObject => ({
    authScheme: { type: 'openIdConnect', openIdConnectUrl: 'https://id.example.com' },
    rawAuthCredential: { authType: 'openIdConnect', oauth2: { clientId, clientSecret } },
  });
  const keyOf = (value: JsonObject): string => new CredentialSource(value).config.credentialKey;

  expect(keyOf(config('a'))).toBe(keyOf(config('b')));
  expect(keyOf(config('a'))).not.toBe(keyOf(config('a', 'd')));
});

it('keeps a bounded number of credentials, the last used ones', () => {
  const store = new InMemoryCredentials(2);
  const owner = (userId: string): { appName: string; userId: string } => ({ appName: 'app', userId });
  const credential: AuthCredential = { authType: 'apiKey', apiKey: 'k' };

  store.save(owner('a'), 'k', credential);
  store.save(owner('b'), 'k', credential);
  store.load(owner('a'), 'k');
  store.save(owner('c'), 'k', credential);

  expect(['a', 'b', 'c'].filter((userId) => store.load(owner(userId), 'k'))).toEqual(['a', 'c']);
});
