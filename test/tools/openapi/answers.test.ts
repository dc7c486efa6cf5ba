import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it } from 'vitest';
import type { JsonObject } from '../../../src/base/json.ts';
import type { Tool } from '../../../src/core/runtime.ts';
import { authorizationServer, client } from '../auth/authorization-server.ts';
import { toolContext } from '../contexts.ts';
import { documentOf, echoService, toolOf, toolsOf, type Received } from './echo-service.ts';

const answering = async (answer: (response: ServerResponse) => void): Promise<Tool> => {
  const service = await echoService((_received, response) => answer(response));
  return toolOf({ operationId: 'x' }, service.url);
};
const resultOf = async (answer: (response: ServerResponse) => void): Promise<unknown> =>
  (await answering(answer)).run?.({}, toolContext());

it('answers with JSON as it is, text as text, and the status of an empty answer', async () => {
  expect(await resultOf((response) => response.end('{"a":[1]}'))).toEqual({ a: [1] });
  expect(await resultOf((response) => response.end('[1]'))).toEqual([1]);
  expect(await resultOf((response) => response.end('plain'))).toBe('plain');
  expect(await resultOf((response) => response.writeHead(204).end())).toEqual({ status: 204 });
});

it('says what it cannot show', async () => {
  const image = await resultOf((response) => response.setHeader('content-type', 'image/png').end('png'));
  expect(image).toMatchObject({ contentType: 'image/png' });
  const long = await resultOf((response) => response.end(`"${'ä'.repeat(1_000_000)}"`));
  expect(long).toMatchObject({ truncated: true });
  expect((long as { text: string }).text.length).toBeLessThan(1_000_000);
});

it('answers failures with an error that names status and reason, without secrets', async () => {
  const key = ['sk', 'abcdefghijklmnop'].join('-');
  const result = await resultOf((response) => response.writeHead(422).end(`{"detail":"bad name","key":"${key}"}`));

  expect(result).toMatchObject({ status: 422, error: expect.stringContaining('422') as string });
  expect((result as { error: string }).error).toContain('bad name');
  expect(JSON.stringify(result)).not.toContain(key);
});

it('follows no redirect', async () => {
  const result = await resultOf((response) => response.writeHead(307, { location: 'http://127.0.0.1:1/' }).end());
  expect(result).toMatchObject({ status: 307, error: expect.stringContaining('http://127.0.0.1:1/') as string });
});

it('answers with an error when the service cannot be reached, breaks off or is too slow', async () => {
  const closed = createServer();
  await new Promise<void>((resolve) => closed.listen(0, '127.0.0.1', resolve));
  const { port } = closed.address() as AddressInfo;
  await new Promise((resolve) => closed.close(resolve));
  const gone = await toolOf({}, `http://127.0.0.1:${port}`);
  expect(await gone.run?.({}, toolContext())).toMatchObject({
    error: expect.stringContaining('ECONNREFUSED') as string,
  });

  const broken = await answering((response) => {
    response.writeHead(200, { 'content-length': '100' });
    response.write('half', () => response.destroy());
  });
  expect(await broken.run?.({}, toolContext())).toHaveProperty('error');

  const service = await echoService(() => {});
  const spec = documentOf({ '/x': { get: { operationId: 'x' } } });
  const slow = (await toolsOf({ spec, server: service.url, timeoutMs: 30 })).get('x');
  expect(await slow?.run?.({}, toolContext())).toMatchObject({
    error: expect.stringContaining('did not answer') as string,
  });
});

it('stops when the run is cancelled, also while the body is being read', async () => {
  const started = Promise.withResolvers<void>();
  const tool = await answering((response) => {
    response.write('{"a":');
    started.resolve();
  });
  const cancel = new AbortController();

  const running = tool.run?.({}, toolContext({ signal: cancel.signal }));
  await started.promise;
  cancel.abort(new Error('cancelled'));

  await expect(running).rejects.toThrow('cancelled');
});

const securitySchemes = {
  key: { type: 'apiKey', in: 'query', name: 'key' },
  basic: { type: 'http', scheme: 'basic' },
  token: { type: 'http', scheme: 'bearer' },
};
const secured = (security: JsonObject[] | undefined): JsonObject =>
  documentOf(
    { '/x': { get: { operationId: 'x', ...(security && { security }) } } },
    { components: { securitySchemes }, security: [{ key: [] }] },
  );
const credentials = {
  key: { authType: 'apiKey', apiKey: 'k-1' },
  basic: { authType: 'http', http: { scheme: 'basic', credentials: { username: 'u', password: 'p' } } },
};

it.each<[string, JsonObject[] | undefined, Partial<Received> & { authorization?: string }]>([
  ['the requirement of the document', undefined, { url: '/x?key=k-1' }],
  ['all schemes of one requirement', [{ key: [], basic: [] }], { url: '/x?key=k-1', authorization: 'Basic dTpw' }],
  [
    'the first requirement there are credentials for',
    [{ token: [] }, { basic: [] }],
    { url: '/x', authorization: 'Basic dTpw' },
  ],
  ['no credential where none will do', [{ token: [] }, {}], { url: '/x' }],
  ['no credential where none is required', [], { url: '/x' }],
])('shows the credentials of %s', async (_what, security, expected) => {
  const service = await echoService();
  const tool = (await toolsOf({ spec: secured(security), server: service.url, credentials })).get('x');

  await tool?.run?.({}, toolContext());

  const { url, headers } = service.received[0]!;
  expect({ url, authorization: headers.authorization }).toEqual({ authorization: undefined, ...expected });
});

it('asks the user for a credential nobody gave, and goes on with it', async () => {
  const service = await echoService();
  const tool = (await toolsOf({ spec: secured([{ token: [] }]), server: service.url })).get('x');
  const asking = toolContext();

  expect(await tool?.run?.({}, asking)).toMatchObject({ pending: true });
  expect(service.received).toEqual([]);
  expect(Object.values(asking.actions.requestedAuthConfigs)).toMatchObject([{ authScheme: securitySchemes.token }]);

  const answer = { authType: 'http', http: { scheme: 'bearer', credentials: { token: 't-1' } } };
  await tool?.run?.({}, { ...toolContext(), getAuthResponse: () => answer });
  expect(service.received[0]?.headers.authorization).toBe('Bearer t-1');
});

it('uses one scheme for everything when the toolset names one, and renews a refused token once', async () => {
  const server = await authorizationServer();
  const service = await echoService(({ headers }, response) => {
    const isGood = headers.authorization === 'Bearer access-2';
    response.writeHead(isGood ? 200 : 401).end(isGood ? '{"ok":true}' : 'stale');
  });
  const tool = (
    await toolsOf({
      spec: secured(undefined),
      server: service.url,
      authScheme: { type: 'oauth2', flows: { clientCredentials: { tokenUrl: `${server.url}/token`, scopes: {} } } },
      authCredential: { authType: 'oauth2', oauth2: client },
    })
  ).get('x');

  expect(await tool?.run?.({}, toolContext())).toEqual({ ok: true });
  expect(service.received.map(({ url, headers }) => [url, headers.authorization])).toEqual([
    ['/x', 'Bearer access-1'],
    ['/x', 'Bearer access-2'],
  ]);
});

it('answers with the refusal when a new token does not help', async () => {
  const service = await echoService((_received, response) => response.writeHead(401).end('no'));
  const tool = (await toolsOf({ spec: secured(undefined), server: service.url, credentials })).get('x');

  expect(await tool?.run?.({}, toolContext())).toMatchObject({ status: 401 });
  expect(service.received).toHaveLength(2);
});
