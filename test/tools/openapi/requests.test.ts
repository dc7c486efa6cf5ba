import { expect, it } from 'vitest';
import type { JsonObject } from '../../../src/base/json.ts';
import { toolContext } from '../contexts.ts';
import { documentOf, echoService, toolOf, toolsOf } from './echo-service.ts';

const parameter = (name: string, place: string, more: JsonObject = {}): JsonObject => ({
  name,
  in: place,
  required: place === 'path',
  schema: {},
  ...more,
});

it.each<[style: JsonObject, value: unknown, expected: string]>([
  [{}, 'a b/c?d#e', '/x/a%20b%2Fc%3Fd%23e'],
  [{}, 5, '/x/5'],
  [{}, [3, 'a,b'], '/x/3,a%2Cb'],
  [{}, { r: 1, g: 2 }, '/x/r,1,g,2'],
  [{ explode: true }, { r: 1, g: 2 }, '/x/r=1,g=2'],
  [{ style: 'label' }, [3, 4], '/x/.3,4'],
  [{ style: 'label', explode: true }, [3, 4], '/x/.3.4'],
  [{ style: 'matrix' }, [3, 4], '/x/;id=3,4'],
  [{ style: 'matrix', explode: true }, { r: 1 }, '/x/;r=1'],
  [{ content: { 'application/json': {} } }, { a: 1 }, '/x/%7B%22a%22%3A1%7D'],
])('writes a path parameter %j of %j as %s', async (style, value, expected) => {
  const service = await echoService();
  const tool = await toolOf({ parameters: [parameter('id', 'path', style)] }, service.url, '/x/{id}');

  await tool.run?.({ id: value }, toolContext());

  expect(service.received.map(({ url }) => url)).toEqual([expected]);
});

it.each<[style: JsonObject, value: unknown, expected: [string, string][]]>([
  [{}, 'ä&b=c', [['q', 'ä&b=c']]],
  [
    {},
    [1, 'b'],
    [
      ['q', '1'],
      ['q', 'b'],
    ],
  ],
  [{ explode: false }, [1, 'b'], [['q', '1,b']]],
  [
    {},
    { a: 1, b: true },
    [
      ['a', '1'],
      ['b', 'true'],
    ],
  ],
  [{ style: 'spaceDelimited', explode: false }, [1, 2], [['q', '1 2']]],
  [{ style: 'pipeDelimited', explode: false }, [1, 2], [['q', '1|2']]],
  [
    { style: 'deepObject', explode: true },
    { a: { b: 1 }, c: [2] },
    [
      ['q[a][b]', '1'],
      ['q[c][]', '2'],
    ],
  ],
  [{ content: { 'application/json': {} } }, { a: [1] }, [['q', '{"a":[1]}']]],
  [{}, false, [['q', 'false']]],
])('writes a query parameter %j of %j', async (style, value, expected) => {
  const service = await echoService();
  const tool = await toolOf({ parameters: [parameter('q', 'query', style)] }, service.url);

  await tool.run?.({ q: value }, toolContext());

  expect([...new URL(service.received[0]!.url, service.url).searchParams]).toEqual(expected);
});

it('sends headers and cookies, and leaves out what was not given', async () => {
  const service = await echoService();
  const parameters = [
    parameter('X-Tags', 'header'),
    parameter('X-None', 'header'),
    parameter('sid', 'cookie'),
    parameter('lang', 'cookie'),
    parameter('unused', 'query'),
  ];
  const tool = await toolOf({ parameters }, service.url);

  await tool.run?.({ x_tags: ['a', 'b'], sid: 'x;y', lang: 'de' }, toolContext());

  expect(service.received[0]).toMatchObject({
    url: '/x',
    headers: { 'x-tags': 'a,b', cookie: 'sid=x%3By; lang=de' },
  });
  expect(service.received[0]?.headers).not.toHaveProperty('x-none');
});

const posting = (type: string, schema: JsonObject, required = false): JsonObject => ({
  requestBody: { required, content: { [type]: { schema } } },
});
const fields = { type: 'object', properties: { a: {}, 'b-c': {} } };

it.each<[type: string, schema: JsonObject, args: JsonObject, body: string]>([
  ['application/json', fields, { a: 1, b_c: [2] }, '{"a":1,"b-c":[2]}'],
  ['application/vnd.api+json', fields, { a: null }, '{"a":null}'],
  ['application/json', { type: 'array' }, { body: [1] }, '[1]'],
  ['application/x-www-form-urlencoded', fields, { a: 'x y', b_c: [1, 2] }, 'a=x+y&b-c=1&b-c=2'],
  ['text/plain', { type: 'string' }, { body: 'hi' }, 'hi'],
  ['application/octet-stream', { type: 'string' }, { body: 'aGk=' }, 'hi'],
])('sends a body of %s from %j', async (type, schema, args, body) => {
  const service = await echoService();
  const tool = await toolOf(posting(type, schema), service.url);

  await tool.run?.(args, toolContext());

  expect(service.received[0]).toMatchObject({ method: 'POST', body, headers: { 'content-type': type } });
});

it('sends files and fields as a form', async () => {
  const service = await echoService();
  const schema = { type: 'object', properties: { file: { type: 'string', format: 'binary' }, note: {}, meta: {} } };
  const tool = await toolOf(posting('multipart/form-data', schema), service.url);

  await tool.run?.({ file: 'aGk=', note: 'ä', meta: { a: 1 } }, toolContext());

  const { headers, body } = service.received[0]!;
  const form = await new Response(body, { headers: { 'content-type': headers['content-type']! } }).formData();
  expect(await (form.get('file') as File).text()).toBe('hi');
  expect([form.get('note'), form.get('meta')]).toEqual(['ä', '{"a":1}']);
});

it('sends no body when none is needed, and an empty one when one is', async () => {
  const service = await echoService();

  await (await toolOf(posting('application/json', fields), service.url)).run?.({}, toolContext());
  await (await toolOf(posting('application/json', fields, true), service.url)).run?.({}, toolContext());

  expect(service.received.map(({ body }) => body)).toEqual(['', '{}']);
});

it('takes arguments under the names of the document, too', async () => {
  const service = await echoService();
  const tool = await toolOf({ parameters: [parameter('petId', 'path')] }, service.url, '/pets/{petId}');

  await tool.run?.({ petId: 7 }, toolContext());

  expect(service.received[0]?.url).toBe('/pets/7');
});

it('lets no argument lead to another path', async () => {
  const service = await echoService();
  const tool = await toolOf({ parameters: [parameter('id', 'path')] }, service.url, '/users/{id}/mail');

  for (const id of [
    '..',
    '.',
    '',
    '../admin',
    '%2e%2e',
    '..%2fadmin',
    '\\..\\',
    '//evil.example.com',
    '@evil.example.com',
  ]) {
    await tool.run?.({ id }, toolContext());
  }

  const paths = service.received.map(({ url }) => url);
  expect(paths).toHaveLength(6);
  expect(paths.every((path) => /^\/users\/[^/]+\/mail$/.test(path))).toBe(true);
});

it('asks the server the toolset names, or that of the operation, with its path and variables', async () => {
  const service = await echoService();
  const { port } = new URL(service.url);
  const servers = [
    { url: 'http://{host}:{port}/base/', variables: { host: { default: '127.0.0.1' }, port: { default: port } } },
  ];
  const paths = { '/a': { get: { operationId: 'a', servers } }, '/b': { get: { operationId: 'b' } } };

  const relative = await toolsOf({
    spec: documentOf(paths, { servers: [{ url: '/v2' }] }),
    baseUrl: `${service.url}/docs/api.json`,
  });
  await relative.get('a')?.run?.({}, toolContext());
  await relative.get('b')?.run?.({}, toolContext());
  const named = await toolsOf({ spec: documentOf(paths), server: `${service.url}/named` });
  await named.get('a')?.run?.({}, toolContext());

  expect(service.received.map(({ url }) => url)).toEqual(['/base/a', '/v2/b', '/named/a']);
});

it('adds the headers of the toolset, fixed or made for the call', async () => {
  const service = await echoService();
  const spec = documentOf({ '/a': { get: { operationId: 'a' } } });

  await (await toolsOf({ spec, server: service.url, headers: { 'x-one': '1' } })).get('a')?.run?.({}, toolContext());
  await (
    await toolsOf({ spec, server: service.url, headers: async ({ session }) => ({ 'x-user': session.userId }) })
  )
    .get('a')
    ?.run?.({}, toolContext());

  expect(service.received.map(({ headers }) => [headers['x-one'], headers['x-user']])).toEqual([
    ['1', undefined],
    [undefined, 'ada'],
  ]);
});
