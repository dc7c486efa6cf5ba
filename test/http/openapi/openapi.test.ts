import { expect, it } from 'vitest';
import type { OpenApiDocument } from '../../../src/http/openapi/document.ts';
import { server } from '../server.ts';

async function read(): Promise<OpenApiDocument> {
  const { app } = await server();
  return (await app.inject('/openapi.json')).json();
}

it('describes every operation under every spelling', async () => {
  const { openapi, info, paths } = await read();

  expect([openapi, info.version]).toEqual(['3.1.0', '1.2.3']);
  expect(Object.keys(paths)).toEqual(
    expect.arrayContaining([
      '/list-apps',
      '/run',
      '/run-sse',
      '/run_sse',
      '/apps/{appName}/users/{userId}/sessions/{sessionId}',
      '/apps/{appName}/users/{userId}/sessions/{sessionId}/artifacts/{artifactName}/versions/{version}',
      '/dev/apps/{appName}/debug/trace/{eventId}',
    ]),
  );
  expect(paths['/run-sse']?.['post']).toMatchObject({
    requestBody: { content: { 'application/json': { schema: { $ref: '#/components/schemas/RunRequest' } } } },
    responses: {
      200: { content: { 'text/event-stream': { schema: { $ref: '#/components/schemas/Event' } } } },
      default: { content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } } },
    },
  });
});

it('names each parameter of a path, and gives each operation an id of its own', async () => {
  const { paths } = await read();
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.values(methods).map((operation) => ({ path, operation })),
  );

  for (const { path, operation } of operations) {
    const named = (operation.parameters ?? []).filter((parameter) => parameter.in === 'path').map(({ name }) => name);
    expect({ path, named: named.toSorted() }).toEqual({
      path,
      named: [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1]!).toSorted(),
    });
  }
  expect(new Set(operations.map(({ operation }) => operation.operationId)).size).toBe(operations.length);
});

it('refers only to schemas it holds', async () => {
  const document = await read();
  const references = [...JSON.stringify(document).matchAll(/"\$ref":"([^"]+)"/g)].map((match) => match[1]!);

  expect(references.length).toBeGreaterThan(50);
  for (const reference of references) {
    expect(document.components.schemas).toHaveProperty([reference.replace('#/components/schemas/', '')]);
  }
});

it('reads requests more leniently than it writes answers', async () => {
  const { components } = await read();

  expect(components.schemas['RunRequest']?.required?.toSorted()).toEqual(['appName', 'sessionId', 'userId']);
  expect(components.schemas['Event']?.required).toContain('actions');
  expect(components.schemas['EventInput']?.required).not.toContain('actions');
});

it('shows the API on a page without script that its own policy lets through', async () => {
  const { app } = await server();

  const page = await app.inject('/docs');

  expect(page.headers['content-type']).toBe('text/html; charset=utf-8');
  expect(page.headers['content-security-policy']).toMatch(/style-src 'self' 'sha256-[\w+/]{43}='/);
  expect(page.headers['content-security-policy']).toContain("script-src 'self';");
  expect(page.body).not.toContain('<script');
  expect(page.body).toContain('<code>/apps/{appName}/users/{userId}/sessions</code>');
  expect(page.body).toContain('<a href="#schema-RunRequest">RunRequest</a>');
  expect(page.body).toMatch(/Also as\s+<code>\/run_sse<\/code>/);
});
