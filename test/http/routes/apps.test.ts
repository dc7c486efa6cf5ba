import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { AppError } from '../../../src/base/errors.ts';
import type { App, Tool } from '../../../src/core/runtime.ts';
import { agent, server } from '../server.ts';

const weather: Tool = {
  kind: 'tool',
  name: 'get_weather',
  description: 'Weather of a city',
  declaration: { name: 'get_weather', description: 'Weather of a city', parameters: { type: 'object' } },
};
const team: App = {
  name: 'team',
  language: 'yaml',
  rootAgent: agent('boss', {
    description: 'Leads',
    instruction: 'Lead.',
    tools: [weather],
    subAgents: [agent('clerk', { instruction: 'Write.' })],
  }),
};

it('lists the app names', async () => {
  const { app } = await server({ apps: { zebra: team, ant: team } });

  expect((await app.inject('/list-apps?relative_path=./')).json()).toEqual(['ant', 'zebra']);
});

it.each(['true', '1', 'YES', 'on'])('lists apps in detail with detailed=%s, and why one is broken', async (flag) => {
  const broken = new AppError('app_broken', 'Agent file of app "broken" has no rootAgent');
  const { app } = await server({ apps: { team, broken } });

  expect((await app.inject(`/list-apps?detailed=${flag}`)).json()).toEqual({
    apps: [
      {
        name: 'broken',
        rootAgentName: '',
        description: '',
        language: 'typescript',
        isComputerUse: false,
        // Where it was thrown follows: here, by this test.
        error: expect.stringMatching(/^Agent file of app "broken" has no rootAgent \(at /) as string,
      },
      { name: 'team', rootAgentName: 'boss', description: 'Leads', language: 'yaml', isComputerUse: false },
    ],
  });
});

it('refuses a switch that is neither true nor false', async () => {
  const { app } = await server();

  expect((await app.inject('/list-apps?detailed=maybe')).statusCode).toBe(400);
  expect((await app.inject('/list-apps?detailed=false')).json()).toEqual(['demo']);
});

it('describes an app with its agents and tools', async () => {
  const { app } = await server({ apps: { team } });

  expect((await app.inject('/apps/team/app-info')).json()).toEqual({
    name: 'team',
    rootAgentName: 'boss',
    description: 'Leads',
    language: 'yaml',
    isComputerUse: false,
    agents: {
      boss: {
        name: 'boss',
        description: 'Leads',
        instruction: 'Lead.',
        tools: [{ functionDeclarations: [weather.declaration] }],
        sub_agents: ['clerk'],
      },
      clerk: { name: 'clerk', description: '', instruction: 'Write.', tools: [], sub_agents: [] },
    },
  });
});

it('describes no app that is unknown, or that no LLM agent leads', async () => {
  const pipeline: App = { name: 'pipeline', rootAgent: agent('all', { kind: 'sequential' }) };
  const { app } = await server({ apps: { pipeline } });

  expect((await app.inject('/apps/nope/app-info')).json()).toMatchObject({ status: 404, code: 'app_not_found' });
  expect((await app.inject('/apps/pipeline/app-info')).statusCode).toBe(400);
});

it('tells its version and state', async () => {
  const { app } = await server();

  expect((await app.inject('/version')).json()).toEqual({
    version: '1.2.3',
    language: 'typescript',
    language_version: process.versions.node,
  });
  expect((await app.inject('/health')).json()).toEqual({ status: 'ok' });
  expect((await app.inject('/ready')).statusCode).toBe(200);
});

it('never reports use, whatever the answer to the consent dialog', async () => {
  const { app } = await server();
  const request = { method: 'POST', url: '/config/telemetry', payload: { telemetry: true } } as const;

  expect((await app.inject('/config/telemetry')).json()).toEqual({ telemetry: false });
  expect((await app.inject(request)).statusCode).toBe(400);
  const answer = await app.inject({ ...request, headers: { 'x-adk-telemetry-request': 'true' } });
  expect([answer.statusCode, answer.json()]).toEqual([200, { telemetry: false }]);
});

it('reads the traces of events and sessions under both spellings', async () => {
  const span = {
    name: 'call_llm',
    span_id: 'a',
    trace_id: 'b',
    start_time: 1,
    end_time: 2,
    attributes: {},
    parent_span_id: null,
  };
  const { app } = await server({
    traces: {
      forEvent: (id) => (id === 'e1' ? { 'gcp.vertex.agent.event_id': 'e1' } : undefined),
      forSession: (id) => (id === 's' ? [span] : []),
    },
  });

  for (const prefix of ['', '/dev/apps/demo']) {
    expect((await app.inject(`${prefix}/debug/trace/session/s`)).json()).toEqual([span]);
    expect((await app.inject(`${prefix}/debug/trace/session/other`)).json()).toEqual([]);
    expect((await app.inject(`${prefix}/debug/trace/e1`)).json()).toEqual({ 'gcp.vertex.agent.event_id': 'e1' });
    expect((await app.inject(`${prefix}/debug/trace/e2`)).json()).toMatchObject({ code: 'trace_not_found' });
  }
});

it('reads YAML files of an app folder, and nothing else', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'http-builder-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, 'root_agent.yaml'), 'name: boss\n');
  writeFileSync(join(folder, '.env'), 'KEY=1');
  symlinkSync('/etc/hostname', join(folder, 'link.yaml'));
  const { app } = await server({ apps: { team: { ...team, folder } } });
  const read = async (query: string): Promise<string> => (await app.inject(`/dev/apps/team/builder?${query}`)).body;

  const answer = await app.inject('/builder/app/team?ts=1');
  expect(answer.body).toBe('name: boss\n');
  expect(answer.headers).toMatchObject({ 'content-type': 'application/x-yaml', 'cache-control': 'no-store' });
  expect(await read('file_path=root_agent.yaml')).toBe('name: boss\n');
  expect(await read('file_path=.env')).toBe('');
  expect(await read('file_path=link.yaml')).toBe('');
  expect(await read('file_path=../../etc/x.yaml')).toBe('');
  expect((await app.inject('/dev/apps/nope/builder')).body).toBe('');
});
