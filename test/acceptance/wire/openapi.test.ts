import { afterAll, beforeAll, expect, it } from 'vitest';
import { type ProbeServer, startProbeServer } from './probe-server.ts';

interface Operation {
  readonly parameters?: { readonly name: string; readonly in: string; readonly required?: boolean }[];
  readonly requestBody?: unknown;
  readonly responses?: Record<string, unknown>;
}
interface Document {
  readonly openapi: string;
  readonly info: { readonly title: string; readonly version: string };
  readonly paths: Record<string, Record<string, Operation>>;
  readonly components?: { readonly schemas?: Record<string, unknown> };
}

let server: ProbeServer;
let document: Document;
beforeAll(async () => {
  server = await startProbeServer();
  const answer = await server.client.get('/openapi.json');
  document = answer.json as Document;
});
afterAll(() => server.stop());

/** Parameter names may differ from ours: only the shape of a path counts. */
const shapeOf = (path: string): string => path.replaceAll(/\{[^}]*\}|\*/g, '{}');

const session = '/apps/{app}/users/{user}/sessions/{session}';
const routes: readonly [string, string][] = [
  ['get', '/list-apps'],
  ['get', '/version'],
  ['get', '/health'],
  ['get', '/apps/{app}/app-info'],
  ['get', '/apps/{app}/users/{user}/sessions'],
  ['post', '/apps/{app}/users/{user}/sessions'],
  ['get', session],
  ['post', session],
  ['patch', session],
  ['delete', session],
  ['get', `${session}/artifacts`],
  ['post', `${session}/artifacts`],
  ['get', `${session}/events/{event}/graph`],
  ['get', `/dev${session}/events/{event}/graph`],
  ['patch', '/apps/{app}/users/{user}/memory'],
  ['post', '/run'],
  ['post', '/run_sse'],
  ['post', '/run-sse'],
  ['get', '/debug/trace/{event}'],
  ['get', '/debug/trace/session/{session}'],
  ['get', '/dev/apps/{app}/debug/trace/{event}'],
  ['get', '/dev/apps/{app}/debug/trace/session/{session}'],
  ['get', '/dev/apps/{app}/build_graph'],
  ['get', '/dev/build_graph/{app}'],
  ['get', '/dev/apps/{app}/build_graph_image'],
  ['get', '/dev/build_graph_image/{app}'],
];

it('is an OpenAPI 3.1 document with title and version', () => {
  expect(document.openapi).toMatch(/^3\.1\./);
  expect(document.info).toMatchObject({
    title: expect.stringMatching(/./) as unknown,
    version: expect.stringMatching(/^\d+\./) as unknown,
  });
});

it.each(routes)('lists %s %s', (method, path) => {
  const entry = Object.entries(document.paths).find(([listed]) => shapeOf(listed) === shapeOf(path));

  expect(entry, `known paths:\n${Object.keys(document.paths).join('\n')}`).toBeDefined();
  expect(Object.keys(entry![1])).toContain(method);
});

it('declares every parameter of every path, and an answer of every operation', () => {
  for (const [path, operations] of Object.entries(document.paths)) {
    const names = [...path.matchAll(/\{([^}]+)\}/g)].map((match) => match[1]!);
    for (const [method, operation] of Object.entries(operations)) {
      const declared = (operation.parameters ?? []).filter((parameter) => parameter.in === 'path');
      expect(declared.map(({ name }) => name).toSorted(), `${method} ${path}`).toEqual(names.toSorted());
      expect(
        declared.every(({ required }) => required),
        `${method} ${path}`,
      ).toBe(true);
      expect(Object.keys(operation.responses ?? {}).length, `${method} ${path}`).toBeGreaterThan(0);
    }
  }
});

it('refers only to schemas that are there', () => {
  const text = JSON.stringify(document);
  const names = [...text.matchAll(/"#\/components\/schemas\/([^"]+)"/g)].map((match) => match[1]!);

  expect(names.length).toBeGreaterThan(0);
  for (const name of names) expect(Object.keys(document.components?.schemas ?? {})).toContain(name);
});

it.each(['Session', 'Event', 'RunRequest', 'Problem'])('names the schema %s', (name) => {
  expect(Object.keys(document.components?.schemas ?? {})).toContain(name);
});

it('describes the body of a run', () => {
  expect(JSON.stringify(document.paths['/run']!['post']!.requestBody)).toMatch(/RunRequest|newMessage/);
});

it('has a page for people', async () => {
  const candidates = await Promise.all(['/docs', '/openapi', '/docs/'].map((path) => server.client.get(path)));

  const page = candidates.find(({ status }) => status === 200);
  expect(page?.headers.get('content-type')).toMatch(/^text\/html/);
  expect(page?.text).toMatch(/<h1|<title/i);
});
