import { expect, it } from 'vitest';
import type { JsonObject } from '../../../src/base/json.ts';
import type { Toolset } from '../../../src/core/runtime.ts';
import { builtInTools } from '../../../src/tools/built-in/built-ins.ts';
import { openApiToolset } from '../../../src/tools/openapi/toolset.ts';
import { toolContext } from '../contexts.ts';
import { documentOf, toolOf, toolsOf } from './echo-service.ts';

const server = 'https://api.example.com';
const petStore = `
openapi: 3.0.3
info: { title: Pets, version: '1' }
servers: [{ url: 'https://{zone}.pets.example.com/v1/', variables: { zone: { default: eu } } }]
paths:
  /pets/{petId}:
    parameters:
      - { name: petId, in: path, required: true, schema: { type: integer, format: int64 }, description: Which pet }
      - { name: X-Trace, in: header, schema: { type: string } }
    get:
      operationId: getPetById
      summary: Find a pet
      description: Returns one pet.
      parameters:
        - { name: X-Trace, in: header, required: true, schema: { type: string, maxLength: 9 } }
        - { name: Authorization, in: header, schema: { type: string } }
        - { name: fields, in: query, schema: { type: array, items: { $ref: '#/components/schemas/Field' } } }
    put:
      operationId: Update-pet by ID
      requestBody:
        required: true
        content:
          application/xml: { schema: { type: object } }
          application/json: { schema: { $ref: '#/components/schemas/Pet' } }
  /pets:
    get: { description: Lists pets. }
components:
  schemas:
    Field: { type: string, enum: [name, tag], nullable: true }
    Pet:
      allOf:
        - type: object
          required: [id, name]
          properties:
            id: { type: integer, readOnly: true }
            name: { type: string, example: Rex, xml: { name: n } }
            petId: { type: string, description: Chip }
        - type: object
          properties:
            age: { type: integer, minimum: 0, exclusiveMinimum: true }
            friends: { type: array, items: { $ref: '#/components/schemas/Pet' } }
`;

it('makes a tool of each operation, named in snake_case by its id, or its path and method', async () => {
  const tools = await toolsOf({ spec: petStore });

  expect([...tools.keys()]).toEqual(['get_pet_by_id', 'update_pet_by_id', 'pets_get']);
  expect(tools.get('get_pet_by_id')?.description).toBe('Find a pet\nReturns one pet.');
  expect(tools.get('pets_get')?.declaration).toEqual({ name: 'pets_get', description: 'Lists pets.' });
});

it('takes parameters of path, query and header as arguments, the operation over its path', async () => {
  const tools = await toolsOf({ spec: petStore });

  expect(tools.get('get_pet_by_id')?.declaration?.parameters).toEqual({
    type: 'object',
    properties: {
      pet_id: { type: 'integer', format: 'int64', description: 'Which pet' },
      x_trace: { type: 'string', maxLength: 9 },
      fields: { type: 'array', items: { type: ['string', 'null'], enum: ['name', 'tag', null] } },
    },
    required: ['pet_id', 'x_trace'],
  });
});

it('flattens an object body, merges allOf, cuts recursion and leaves out what only servers write', async () => {
  const tools = await toolsOf({ spec: petStore });

  expect(tools.get('update_pet_by_id')?.declaration?.parameters).toEqual({
    type: 'object',
    properties: {
      pet_id: { type: 'integer', format: 'int64', description: 'Which pet' },
      x_trace: { type: 'string' },
      name: { type: 'string' },
      pet_id_2: { type: 'string', description: 'Chip' },
      age: { type: 'integer', exclusiveMinimum: 0 },
      friends: { type: 'array', items: { type: 'object' } },
    },
    required: ['pet_id', 'name'],
  });
});

it('keeps the spelling of the document when asked to', async () => {
  const tools = await toolsOf({ spec: petStore, keepNames: true });

  expect(Object.keys(tools.get('get_pet_by_id')?.declaration?.parameters?.['properties'] as object)).toEqual([
    'petId',
    'x_trace',
    'fields',
  ]);
});

it('reads OpenAPI 3.1 and bodies that are no object', async () => {
  const operation = {
    requestBody: { content: { 'application/json': { schema: { type: ['array', 'null'], items: { const: 1 } } } } },
  };
  const spec = documentOf({ '/x': { post: operation } }, { openapi: '3.1.0' });

  const [tool] = (await toolsOf({ spec: JSON.stringify(spec), server })).values();

  expect(tool?.declaration?.parameters).toEqual({
    type: 'object',
    properties: { body: { type: ['array', 'null'], items: { const: 1 } } },
  });
});

it('finds references to parameters, bodies, responses and whole paths', async () => {
  const spec = documentOf(
    { '/a': { $ref: '#/components/pathItems/A' } },
    {
      components: {
        pathItems: {
          A: {
            post: {
              operationId: 'a',
              parameters: [{ $ref: '#/components/parameters/P' }],
              requestBody: { $ref: '#/components/requestBodies/B' },
            },
          },
        },
        parameters: { P: { name: 'p', in: 'query', schema: { $ref: '#/components/schemas/Deep' } } },
        requestBodies: { B: { content: { 'application/json': { schema: { properties: { b: {} } } } } } },
        schemas: { Deep: { $ref: '#/components/schemas/Deeper' }, Deeper: { type: 'string' } },
      },
    },
  );

  const tools = await toolsOf({ spec, server });

  expect(tools.get('a')?.declaration?.parameters?.['properties']).toEqual({ p: { type: 'string' }, b: {} });
});

it('keeps names apart, short and within the grammar', async () => {
  const operation = (operationId: string): JsonObject => ({ get: { operationId } });
  const spec = documentOf({
    '/a': operation('list'),
    '/b': operation('LIST'),
    '/c': operation('x'.repeat(80)),
    '/d': operation('X'.repeat(80)),
    '/e': operation('2fast'),
    '/größe/{ä}': { get: {} },
  });

  const names = [...(await toolsOf({ spec, server })).keys()];

  expect(names).toEqual(['list', 'list_2', 'x'.repeat(60), `${'x'.repeat(58)}_2`, '_2fast', 'gr_e_get']);
});

it('cuts schemas whose references multiply', async () => {
  const schemas: JsonObject = { S0: { type: 'string' } };
  for (let level = 1; level <= 40; level += 1) {
    const $ref = `#/components/schemas/S${level - 1}`;
    schemas[`S${level}`] = { type: 'object', properties: { a: { $ref }, b: { $ref } } };
  }
  const body = { content: { 'application/json': { schema: { $ref: '#/components/schemas/S40' } } } };
  const spec = documentOf({ '/x': { post: { operationId: 'x', requestBody: body } } }, { components: { schemas } });

  const tools = await toolsOf({ spec, server });

  expect(JSON.stringify(tools.get('x')?.declaration).length).toBeLessThan(500_000);
});

it('filters and prefixes like any toolset', async () => {
  const tools = await toolsOf({ spec: petStore, filter: ['pets_get'], prefix: 'store' });
  expect([...tools.keys()]).toEqual(['store_pets_get']);
});

it('is made from a configuration file under the names ADK gives its options', async () => {
  const toolset = builtInTools.get('OpenAPIToolset')?.({
    spec_str: petStore,
    tool_filter: ['get_pet_by_id'],
    preserve_property_names: true,
  }) as Toolset;

  const [tool, ...rest] = await toolset.getTools(toolContext().run);

  expect(rest).toEqual([]);
  expect(tool?.declaration?.parameters?.['properties']).toHaveProperty('petId');
  expect(() => builtInTools.get('OpenAPIToolset')?.({})).toThrow(/needs a spec/);
});

it.each<[string, string | JsonObject]>([
  ['text that is no document', 'just text'],
  ['broken YAML', 'a: [b'],
  ['Swagger 2', { swagger: '2.0', paths: {} }],
  ['a reference that leads nowhere', documentOf({ '/a': { get: { parameters: [{ $ref: '#/components/x' }] } } })],
  ['a reference to another document', documentOf({ '/a': { get: { parameters: [{ $ref: 'other.yaml#/x' }] } } })],
  ['references in a circle', documentOf({ '/a': { $ref: '#/paths/~1b' }, '/b': { $ref: '#/paths/~1a' } })],
  ['no server', documentOf({ '/a': { get: {} } })],
  ['a server that is no web address', documentOf({ '/a': { get: {} } }, { servers: [{ url: 'ftp://x' }] })],
])('refuses %s', async (_what, spec) => {
  const listing = openApiToolset({ spec }).getTools(toolContext().run);
  await expect(listing).rejects.toMatchObject({ code: 'ConfigurationException' });
});

it('answers arguments that do not fit with what is wrong, before anything is sent', async () => {
  const tool = await toolOf(
    { parameters: [{ name: 'limit', in: 'query', schema: { type: 'integer', maximum: 10 } }] },
    'http://127.0.0.1:9',
  );

  const result = (await tool.run?.({ limit: 11 }, toolContext())) as { error: string };

  expect(result.error).toMatch(/limit: must be <= 10/);
});
