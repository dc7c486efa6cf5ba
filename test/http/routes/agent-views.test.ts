import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { loadPrices } from '../../../src/app/prices.ts';
import { AppError } from '../../../src/base/errors.ts';
import type { App, Tool } from '../../../src/core/runtime.ts';
import { agentFolders } from '../../../src/loaders/agent-folders.ts';
import { DirectoryLoader } from '../../../src/loaders/directory-loader.ts';
import { newActions } from '../../../src/schemas/event.ts';
import { TraceRecorder } from '../../../src/telemetry/recorder.ts';
import { openSpan, rootTrace } from '../../../src/telemetry/spans.ts';
import { agent, server } from '../server.ts';

const search: Tool = {
  kind: 'tool',
  name: 'search',
  description: 'Searches',
  declaration: { name: 'search', description: 'Searches', parameters: { type: 'object' } },
  requireConfirmation: true,
};
const helper: Tool = { kind: 'tool', name: 'helper', description: 'Helps', customMetadata: { agent: 'helper' } };
const team: App = {
  name: 'demo',
  readme: '# Team',
  rootAgent: agent('boss', {
    model: 'gemini-2.5-flash',
    instruction: 'Lead.',
    tools: [search, helper, { kind: 'toolset', name: 'files', getTools: async () => [], close: async () => {} }],
    subAgents: [
      agent('line', { kind: 'sequential', subAgents: [agent('a'), agent('b')] }),
      agent('circle', { kind: 'loop', subAgents: [agent('a')] }),
    ],
  }),
};

it('describes the agents of an app as nodes and edges', async () => {
  const { app } = await server({ apps: { demo: team } });

  const graph = (await app.inject('/apps/demo/agent-graph')).json();

  expect(graph).toMatchObject({ root: 'boss', readme: '# Team' });
  expect(graph.nodes.map((node: { id: string; kind: string }) => `${node.id} ${node.kind}`)).toEqual([
    'boss llm',
    'boss/line sequential',
    'boss/line/a llm',
    'boss/line/b llm',
    'boss/circle loop',
    'boss/circle/a llm',
  ]);
  expect(graph.nodes[0]).toMatchObject({
    model: 'gemini-2.5-flash',
    instruction: 'Lead.',
    tools: [
      { name: 'search', kind: 'tool', description: 'Searches', isLongRunning: false, asksFirst: true },
      { name: 'helper', kind: 'agent', asksFirst: false },
      { name: 'files', kind: 'toolset' },
    ],
  });
  expect(graph.edges).toEqual([
    { from: 'boss', to: 'boss/line', kind: 'transfer' },
    { from: 'boss', to: 'boss/circle', kind: 'transfer' },
    { from: 'boss/line', to: 'boss/line/a', kind: 'contains' },
    { from: 'boss/line', to: 'boss/line/b', kind: 'contains' },
    { from: 'boss/line/a', to: 'boss/line/b', kind: 'next' },
    { from: 'boss/circle', to: 'boss/circle/a', kind: 'contains' },
    { from: 'boss/circle/a', to: 'boss/circle/a', kind: 'again' },
  ]);
});

it('lists the tools of an app with what they take', async () => {
  const { app } = await server({ apps: { demo: team } });

  const { tools } = (await app.inject('/apps/demo/tools')).json();

  expect(tools).toMatchObject([
    { agent: 'boss', name: 'search', parameters: { type: 'object' } },
    { agent: 'boss', name: 'helper' },
    { agent: 'boss', name: 'files', kind: 'toolset' },
  ]);
});

it('says what it can do, as far as it has it, and what outlives it', async () => {
  const { app } = await server({ config: { bodyLimitBytes: 1_000 } });

  const answer = (await app.inject('/capabilities')).json();

  expect(answer).toMatchObject({
    version: '1.2.3',
    limits: { bodyBytes: 1_000, eventsPerPage: 1_000 },
    stores: { sessions: { kind: 'memory', durable: false }, artifacts: { kind: 'memory', durable: false } },
  });
  expect(answer.features).toEqual(expect.arrayContaining(['agent-graph', 'event-pages', 'fork', 'live', 'traces']));
  expect(answer.features).toEqual(answer.features.toSorted());
});

it('lists traces newest first, and the spans of a running one', async () => {
  const recorder = new TraceRecorder();
  const record = (sessionId: string) =>
    openSpan('invocation', 'invocation', rootTrace(recorder), {
      'gcp.vertex.agent.session_id': sessionId,
      'agent_server.app_name': 'demo',
      'user.id': 'u',
    });
  for (const id of ['s1', 's2', 's3']) record(id).end();
  const open = record('s4');
  const { app } = await server({ traces: recorder });
  const read = async (path: string) => (await app.inject(path)).json();

  const first = await read('/traces?pageSize=3');
  const second = await read(`/traces?pageSize=3&cursor=${first.cursor}`);
  expect(first.traces.map((trace: { sessionIds: string[] }) => trace.sessionIds[0])).toEqual(['s4', 's3', 's2']);
  expect(second).toMatchObject({ traces: [{ sessionIds: ['s1'], status: 'ok', appName: 'demo', userId: 'u' }] });
  expect(second.cursor).toBeUndefined();
  expect((await read('/traces?q=S2')).traces).toHaveLength(1);
  expect((await read('/traces?appName=other')).traces).toEqual([]);

  const trace = await read(`/traces/${first.traces[0].traceId}`);
  expect(trace).toMatchObject({ status: 'running', spanCount: 1, spans: [{ name: 'invocation' }] });
  expect(trace.spans[0]).not.toHaveProperty('end_time');
  open.setLazy('gcp.vertex.agent.llm_request', { text: () => '{"long":1}' }, 0);
  const [shown] = (await read(`/traces/${first.traces[0].traceId}`)).spans;
  const whole = await read(`/traces/${first.traces[0].traceId}/spans/${shown.span_id}`);
  expect(shown.attributes).not.toHaveProperty(['gcp.vertex.agent.llm_request']);
  expect(whole.attributes).toHaveProperty(['gcp.vertex.agent.llm_request'], '{"long":1}');
  const { mark, running } = await read('/dev/apps/demo/sessions/s4/spans');
  open.end();
  const changes = await read(`/dev/apps/demo/sessions/s4/spans?since=${mark}`);
  expect([running, changes.running]).toEqual([true, false]);
  expect(changes.spans).toMatchObject([{ name: 'invocation', end_time: expect.any(Number) }]);
  expect((await app.inject('/traces/nobody')).json()).toMatchObject({ code: 'trace_not_found' });
});

it('shows why an edit of an app cannot be loaded, while the version before it answers', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'edited-app-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'root_agent.yaml');
  writeFileSync(file, 'name: good\ninstruction: Be good.\nscript: [{ text: hi }]\n');
  const loader = new DirectoryLoader({ find: agentFolders(folder) });
  const [name = ''] = await loader.listAgents();
  await loader.loadAgent(name);
  const { app } = await server({ loader });

  writeFileSync(file, 'name: [broken\n');
  await expect
    .poll(async () => (await app.inject('/list-apps?detailed=true')).json().apps[0], { timeout: 10_000 })
    .toMatchObject({ rootAgentName: 'good', error: expect.stringContaining('root_agent.yaml:') });
});

it('answers estimated prices, with those of a file over its own', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'prices-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'prices.yaml');
  writeFileSync(
    file,
    'gemini-2.5-pro: { input: 9, output: 99 }\nmy-model: { input: 1, output: 2, cachedInput: 0.1 }\n',
  );
  const { app } = await server({ prices: loadPrices(file) });

  const table = (await app.inject('/prices')).json();

  expect(table).toMatchObject({ currency: 'USD', per: 1_000_000, isEstimate: true });
  expect(table.models).toContainEqual({ match: 'gemini-2.5-pro', input: 9, output: 99 });
  expect(table.models).toContainEqual({ match: 'my-model', input: 1, output: 2, cachedInput: 0.1 });
  expect(table.models.length).toBeGreaterThan(10);
});

it('refuses a price file that is none', () => {
  const folder = mkdtempSync(join(tmpdir(), 'prices-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'prices.yaml');
  writeFileSync(file, 'my-model: { input: cheap, output: 2 }\n');

  expect(() => loadPrices(file)).toThrow(/prices\.yaml" is not valid: my-model\.input/);
  expect(() => loadPrices(join(folder, 'none.yaml'))).toThrow(AppError);
});

it('runs one tool without a model', async () => {
  const { app } = await server({
    tryTool: async ({ appName, userId, agent: of, name, args, state }) => ({
      response: { id: 'adk-1', name, response: { appName, userId, of, args, state } },
      actions: { ...newActions(), stateDelta: { last: 1 }, artifactDelta: { 'a.txt': 0 } },
      events: [],
    }),
  });
  const payload = { agent: 'boss', name: 'search', args: { q: 'x' }, state: { budget: 1 } };

  const answer = await app.inject({ method: 'POST', url: '/apps/demo/tools/run', payload });

  expect(answer.json()).toEqual({
    response: { appName: 'demo', userId: 'user', of: 'boss', args: { q: 'x' }, state: { budget: 1 } },
    stateDelta: { last: 1 },
    artifacts: { 'a.txt': 0 },
    requests: [],
    ms: expect.any(Number),
  });
  expect((await app.inject('/capabilities')).json().features).toContain('run-tool');
  expect((await app.inject({ method: 'POST', url: '/apps/demo/tools/run', payload: {} })).statusCode).toBe(400);
  const nameless = { ...payload, name: '' };
  expect((await app.inject({ method: 'POST', url: '/apps/demo/tools/run', payload: nameless })).statusCode).toBe(400);
});
