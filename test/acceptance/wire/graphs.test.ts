import { afterAll, beforeAll, expect, it } from 'vitest';
import { newSession, runBody, runEvents, sessionsPath } from './client.ts';
import { type ProbeServer, startProbeServer } from './probe-server.ts';

let server: ProbeServer;
beforeAll(async () => {
  server = await startProbeServer();
});
afterAll(() => server.stop());

const dotOf = (json: unknown): string => (json as { dotSrc: string }).dotSrc;

/** The attributes that a DOT source gives to the node named `name`. */
function nodeStyle(dot: string, name: string): string {
  const line = dot.split('\n').find((text) => new RegExp(`^\\s*"?${name}"?\\s*\\[`).test(text));
  expect(line, `a node "${name}" in:\n${dot}`).toBeDefined();
  return line!;
}

/** Balanced braces and quotes, one digraph: enough to see that a renderer would read it. */
function expectDot(dot: string): void {
  expect(dot).toMatch(/^\s*(strict\s+)?digraph\b[^{]*\{/);
  const bare = dot.replaceAll(/"(?:[^"\\]|\\.)*"/gs, '');
  expect(bare).not.toContain('"');
  expect(bare.split('{').length).toBe(bare.split('}').length);
}

it.each(['/dev', ''])(
  'answers the graph of an event at %s/apps/… with the path of the event highlighted',
  async (prefix) => {
    const { id } = await newSession(server.client, 'team');
    const [call, response, text] = await runEvents(server.client, runBody('team', id, 'look up moon'));
    const graphOf = async (eventId: string): Promise<string> => {
      const answer = await server.client.get(`${prefix}${sessionsPath('team')}/${id}/events/${eventId}/graph`);
      expect(answer).toHaveStatus(200);
      expect(Object.keys(answer.json as object)).toEqual(['dotSrc']);
      expectDot(dotOf(answer.json));
      return dotOf(answer.json);
    };

    const [ofCall, ofResponse, ofText] = [
      await graphOf(call!.id),
      await graphOf(response!.id),
      await graphOf(text!.id),
    ];

    for (const name of ['team_lead', 'writer', 'look_up', 'draft', 'left', 'right', 'gloss']) {
      expect(ofCall).toContain(name);
    }
    expect(nodeStyle(ofCall, 'look_up')).not.toBe(nodeStyle(ofText, 'look_up'));
    expect(nodeStyle(ofCall, 'look_up')).toBe(nodeStyle(ofResponse, 'look_up'));
    expect(nodeStyle(ofText, 'team_lead')).toBe(nodeStyle(ofCall, 'team_lead'));
    expect(nodeStyle(ofText, 'writer')).toBe(nodeStyle(ofCall, 'writer'));
  },
);

it.each([
  ['an unknown session', 'none', 'none'],
  ['an unknown event', undefined, 'none'],
])('answers 404 for the graph of %s', async (_name, session, event) => {
  const { id } = await newSession(server.client, 'team');

  const answer = await server.client.get(`${sessionsPath('team')}/${session ?? id}/events/${event}/graph`);

  expect(answer).toBeProblem(404);
});

it.each(['/dev/apps/team/build_graph', '/dev/build_graph/team'])('GET %s answers the tree of agents', async (path) => {
  const answer = await server.client.get(path);

  expect(answer).toHaveStatus(200);
  expect(answer.json).toMatchObject({
    name: 'team',
    root_agent: {
      name: 'team_lead',
      description: 'Leads the team.',
      model: 'scripted',
      tools: [{ name: 'look_up', type: 'tool' }],
      sub_agents: [
        { name: 'writer' },
        {
          name: 'pipeline',
          sub_agents: [
            { name: 'draft' },
            { name: 'review', sub_agents: [{ name: 'left' }, { name: 'right' }] },
            { name: 'polish', sub_agents: [{ name: 'gloss' }] },
          ],
        },
      ],
    },
  });
  expect(answer.text).not.toContain(':null');
});

it.each(['/dev/apps/team/build_graph_image', '/dev/build_graph_image/team'])(
  'GET %s answers a graph for each level and for the level asked for',
  async (path) => {
    const root = await server.client.get(`${path}?dark_mode=false`);

    expect(root).toHaveStatus(200);
    const { dotSrc, ...levels } = root.json as Record<string, unknown> & { dotSrc: string };
    expectDot(dotSrc);
    expect(dotOf(levels[''])).toBe(dotSrc);
    expect(Object.keys(levels).some((key) => key.endsWith('pipeline'))).toBe(true);
    expect(Object.keys(levels).some((key) => /pipeline[/.]review$/.test(key))).toBe(true);
    for (const level of Object.values(levels)) expectDot(dotOf(level));
    const pipeline = Object.keys(levels).find((key) => key.endsWith('pipeline'))!;
    const inner = await server.client.get(`${path}?dark_mode=false&node=${encodeURIComponent(pipeline)}`);
    expect(dotOf(inner.json)).toBe(dotOf(levels[pipeline]));
    expect(dotOf(inner.json)).toContain('draft');
  },
);

it('draws the structure graph in light and in dark', async () => {
  const [light, dark] = await Promise.all(
    ['false', 'true'].map((mode) => server.client.get(`/dev/apps/team/build_graph_image?dark_mode=${mode}`)),
  );

  expect(dotOf(light!.json)).not.toBe(dotOf(dark!.json));
  for (const answer of [light!, dark!]) {
    for (const name of ['team_lead', 'writer', 'pipeline', 'look_up']) expect(dotOf(answer.json)).toContain(name);
  }
});

it('GET /dev/apps/{app}/graph draws the whole app without a highlight', async () => {
  const answer = await server.client.get('/dev/apps/team/graph?dark_mode=true');

  expect(answer).toHaveStatus(200);
  expectDot(dotOf(answer.json));
});

it.each([
  '/dev/apps/nobody/build_graph',
  '/dev/build_graph/nobody',
  '/dev/apps/nobody/build_graph_image',
  '/dev/apps/nobody/graph',
  '/dev/apps/team/build_graph_image?node=nobody',
])('GET %s answers 404', async (path) => {
  expect(await server.client.get(path)).toBeProblem(404);
});

it('draws the graph of an app whose root is a workflow', async () => {
  const answer = await server.client.get('/dev/apps/workflow/build_graph_image?dark_mode=true');

  expect(answer).toHaveStatus(200);
  for (const name of ['first', 'second']) expect(dotOf(answer.json)).toContain(name);
});
