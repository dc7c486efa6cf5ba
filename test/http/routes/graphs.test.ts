import { expect, it } from 'vitest';
import type { Agent, App, Tool } from '../../../src/core/runtime.ts';
import type { Part } from '../../../src/schemas/content.ts';
import type { Event } from '../../../src/schemas/event.ts';
import { agent, says, server, sessionPath } from '../server.ts';

const tool = (name: string): Tool => ({ kind: 'tool', name, description: '' });
const boss = agent('boss', {
  model: 'gemini-2.5-flash',
  tools: [tool('search')],
  subAgents: [
    agent('clerk', { tools: [tool('write')] }),
    agent('line', {
      kind: 'sequential',
      subAgents: [
        agent('first'),
        agent('both', { kind: 'parallel', subAgents: [agent('left'), agent('right')] }),
        agent('last', { kind: 'loop', subAgents: [agent('draft'), agent('review')] }),
      ],
    }),
  ],
});

const appOf = (rootAgent: Agent): Record<string, App> => ({ demo: { name: 'demo', rootAgent, readme: '# Hi' } });

async function graphOf(event: Event, root: Agent = boss): Promise<string> {
  const { app } = await server({ apps: appOf(root) });
  await app.inject({ method: 'POST', url: sessionPath('s'), payload: { events: [event] } });
  const answer = await app.inject(`${sessionPath('s')}/events/${event.id}/graph`);
  return answer.json<{ dotSrc: string }>().dotSrc;
}

const eventOf = (author: string, ...parts: Part[]): Event => says('', { author, content: { role: 'model', parts } });
const lines = (dot: string, pattern: RegExp): string[] =>
  dot
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => pattern.test(line));
const lit = (dot: string): string[] => lines(dot, /#0F5223/).map((line) => line.split(' [')[0]!);
const litEdges = (dot: string): string[] => lines(dot, /#69CB87/).map((line) => line.replace(/ \[.*/, ''));

it('draws every agent and tool, workflows around their members', async () => {
  const dot = await graphOf(eventOf('boss', { text: 'Hi' }));

  expect(lines(dot, /shape="ellipse"/)).toHaveLength(7);
  expect(lines(dot, /shape="box"/).map((line) => line.split(' [')[0])).toEqual(['"search"', '"write"']);
  expect(lines(dot, /subgraph|^label/)).toEqual([
    'subgraph "cluster_line" {',
    'label="line (Sequential Agent)";',
    'subgraph "cluster_both" {',
    'label="both (Parallel Agent)";',
    'subgraph "cluster_last" {',
    'label="last (Loop Agent)";',
  ]);
  expect(lines(dot, /->/).map((line) => line.replace(/ \[.*/, ''))).toEqual([
    '"boss" -> "search"',
    '"clerk" -> "write"',
    '"boss" -> "clerk"',
    '"draft" -> "review"',
    '"review" -> "draft"',
    '"first" -> "left"',
    '"first" -> "right"',
    '"left" -> "draft"',
    '"right" -> "draft"',
    '"boss" -> "first"',
  ]);
});

it('highlights who spoke', async () => {
  const dot = await graphOf(eventOf('clerk', { text: 'Hi' }));

  expect(lit(dot)).toEqual(['"clerk"']);
  expect(litEdges(dot)).toEqual([]);
});

it('highlights a call, also of a tool that only a toolset knows', async () => {
  const dot = await graphOf(
    eventOf('boss', { functionCall: { name: 'search' } }, { functionCall: { name: 'surprise' } }),
  );

  expect(lit(dot)).toEqual(['"boss"', '"search"', '"surprise"']);
  expect(litEdges(dot)).toEqual(['"boss" -> "search"', '"boss" -> "surprise"']);
});

it('highlights a response the other way round', async () => {
  const dot = await graphOf(eventOf('boss', { functionResponse: { name: 'search', response: {} } }));

  expect(lit(dot)).toEqual(['"boss"', '"search"']);
  expect(lines(dot, /#69CB87/)).toEqual([expect.stringContaining('dir="back"')]);
});

it('highlights a transfer as the way to the other agent', async () => {
  const call = { name: 'transfer_to_agent', args: { agent_name: 'clerk' } };
  const dot = await graphOf(eventOf('boss', { functionCall: call }));

  expect(lit(dot)).toEqual(['"boss"', '"clerk"']);
  expect(litEdges(dot)).toEqual(['"boss" -> "clerk"']);
});

it('escapes names', async () => {
  const name = 'a"]; b [label="\\N\nx';
  const dot = await graphOf(eventOf(name, { text: 'Hi' }), agent(name));

  expect(lines(dot, /🤖/)).toEqual([
    String.raw`"a\"]; b [label=\"\\N\nx" [label="🤖 a\"]; b [label=\"\\N\nx", shape="ellipse", style="filled,rounded", fillcolor="#0F5223", color="#0F5223", fontcolor="#cccccc"];`,
  ]);
});

it('answers 404 for the graph of what is not there', async () => {
  const { app } = await server();
  await app.inject({ method: 'POST', url: sessionPath('s') });

  const event = await app.inject(`/dev${sessionPath('s')}/events/nope/graph`);
  const session = await app.inject(`${sessionPath('nope')}/events/nope/graph`);

  expect(event.json()).toMatchObject({ status: 404, code: 'event_not_found' });
  expect(session.json()).toMatchObject({ status: 404, code: 'session_not_found' });
});

it('describes the tree of an app', async () => {
  const { app } = await server({ apps: appOf(boss) });

  for (const url of ['/dev/apps/demo/build_graph', '/dev/build_graph/demo']) {
    expect((await app.inject(url)).json()).toMatchObject({
      name: 'demo',
      readme: '# Hi',
      root_agent: {
        name: 'boss',
        type: 'agent',
        model: 'gemini-2.5-flash',
        tools: [{ name: 'search', type: 'tool' }],
        sub_agents: [{ name: 'clerk' }, { name: 'line', kind: 'sequential', sub_agents: expect.any(Array) }],
      },
    });
  }
});

it('draws each level of an app under the names the ADK UI asks for', async () => {
  const { app } = await server({ apps: appOf(boss) });

  const all = (await app.inject('/dev/apps/demo/build_graph_image?dark_mode=true')).json<Record<string, unknown>>();
  const one = (await app.inject('/dev/build_graph_image/demo?node=line/both')).json<{ dotSrc: string }>();

  expect(Object.keys(all).toSorted()).toEqual(
    ['', 'boss/line', 'boss/line/both', 'boss/line/last', 'dotSrc', 'line', 'line/both', 'line/last'].toSorted(),
  );
  expect(all['']).toEqual({ dotSrc: all['dotSrc'] });
  expect(all['dotSrc']).toContain('#0F172A');
  expect(one.dotSrc).toContain('#F8FAFC');
  expect(lines(one.dotSrc, /->/).map((line) => line.replace(/ \[.*/, ''))).toEqual([
    '"__START__" -> "left"',
    '"__START__" -> "right"',
    '"left" -> "__END__"',
    '"right" -> "__END__"',
  ]);
});

it('answers 404 for a level that is not there', async () => {
  const { app } = await server({ apps: appOf(boss) });

  expect((await app.inject('/dev/apps/demo/build_graph_image?node=nope')).statusCode).toBe(404);
  expect((await app.inject('/dev/apps/nope/build_graph_image')).statusCode).toBe(404);
});

it('draws the whole tree of an app in light and dark', async () => {
  const { app } = await server({ apps: appOf(boss) });

  const light = (await app.inject('/dev/apps/demo/graph')).json<{ dotSrc: string }>();
  const dark = (await app.inject('/dev/apps/demo/graph?dark_mode=true')).json<{ dotSrc: string }>();

  expect(lit(light.dotSrc)).toEqual([]);
  expect([light.dotSrc.includes('#ffffff'), dark.dotSrc.includes('#333537')]).toEqual([true, true]);
});
