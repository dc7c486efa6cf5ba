import { afterAll, beforeAll, expect, it } from 'vitest';
import { startProbeServer, type ProbeServer } from './probe-server.ts';

let server: ProbeServer;
beforeAll(async () => {
  server = await startProbeServer();
});
afterAll(() => server.stop());

const working = ['chat', 'flood', 'keys', 'probe', 'team', 'workflow'];

it.each(['/list-apps', '/list-apps?relative_path=./', '/list-apps?detailed=false'])(
  'GET %s answers a sorted array of names, with the working apps in it',
  async (path) => {
    const answer = await server.client.get(path);

    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toMatch(/^application\/json/);
    const names = answer.json as string[];
    expect(names).toEqual(names.toSorted());
    expect(names).toEqual(expect.arrayContaining(working));
  },
);

it.each(['true', '1'])('GET /list-apps?detailed=%s describes each app', async (flag) => {
  const answer = await server.client.get(`/list-apps?detailed=${flag}`);

  expect(answer.status).toBe(200);
  const { apps } = answer.json as { apps: Record<string, unknown>[] };
  expect(apps.find((app) => app['name'] === 'chat')).toMatchObject({
    name: 'chat',
    rootAgentName: 'chat_agent',
    description: 'Chats from a script.',
    language: 'yaml',
    isComputerUse: false,
  });
  expect(apps.find((app) => app['name'] === 'probe')).toMatchObject({
    rootAgentName: 'probe_agent',
    language: 'typescript',
  });
});

it('answers a broken app with its error, and the others as if it were not there', async () => {
  const create = await server.client.post('/apps/broken/users/user/sessions', {});
  const run = await server.client.post('/run', {
    appName: 'broken',
    userId: 'user',
    sessionId: (create.json as { id?: string }).id ?? 'none',
    newMessage: { role: 'user', parts: [{ text: 'hi' }] },
  });

  expect(run).toHaveStatus(500);
  expect(run.json).toMatchObject({
    status: 500,
    code: 'app_broken',
    detail: expect.stringContaining('This app is broken on purpose') as unknown,
  });
  expect(run.text).not.toMatch(/"[^"]*\/acceptance\/agents|\n\s+at /);
  expect((await server.client.post('/apps/chat/users/user/sessions', {})).status).toBe(200);
});

it('GET /version names the version and the language', async () => {
  const answer = await server.client.get('/version');

  expect(answer.json).toEqual({
    version: expect.stringMatching(/^\d+\.\d+\.\d+/) as unknown,
    language: 'typescript',
    language_version: expect.stringMatching(/^v?\d+\./) as unknown,
  });
});

it('GET /health and /ready tell that the server is up', async () => {
  const health = await server.client.get('/health');
  const ready = await server.client.get('/ready');

  expect([health.status, health.json]).toEqual([200, { status: 'ok' }]);
  expect(ready.status).toBe(200);
});

it.each([
  ['/', /\/dev-ui\/?$/],
  ['/dev-ui', /\/dev-ui\/$/],
])('GET %s redirects to the development UI', async (path, target) => {
  const answer = await server.client.get(path);

  expect([301, 302, 303, 307, 308]).toContain(answer.status);
  expect(answer.headers.get('location')).toMatch(target);
});

it('serves the development UI as HTML and its scripts as JavaScript', async () => {
  const page = await server.client.get('/dev-ui/');

  expect(page.status).toBe(200);
  expect(page.headers.get('content-type')).toMatch(/^text\/html/);
  const scripts = [...page.text.matchAll(/<script[^>]+src="([^"]+)"/g)].map((match) => match[1]!);
  expect(scripts.length).toBeGreaterThan(0);
  for (const source of scripts) {
    const script = await server.client.get(new URL(source, `${server.url}/dev-ui/`).pathname);
    expect(script.status).toBe(200);
    expect(script.headers.get('content-type')).toMatch(/^(text|application)\/javascript/);
  }
});

it('answers a missing file of the development UI with a JSON 404', async () => {
  expect(await server.client.get('/dev-ui/assets/none.js')).toBeProblem(404);
});

it('GET /dev-ui/assets/config/runtime-config.json is what the official UI boots from', async () => {
  const answer = await server.client.get('/dev-ui/assets/config/runtime-config.json');

  expect(answer.status).toBe(200);
  expect(answer.headers.get('content-type')).toMatch(/^application\/json/);
  expect(answer.json).toMatchObject({ backendUrl: '' });
});

it('GET and POST /config/telemetry keep the UI from asking for consent', async () => {
  const read = await server.client.get('/config/telemetry');
  const write = await server.client.send('POST', '/config/telemetry', {
    body: JSON.stringify({ telemetry: false }),
    headers: { 'content-type': 'application/json', 'x-adk-telemetry-request': 'true' },
  });
  const bare = await server.client.post('/config/telemetry', { telemetry: false });

  expect([read.status, read.json]).toEqual([200, { telemetry: false }]);
  expect([write.status, write.json]).toEqual([200, { telemetry: false }]);
  expect(bare).toBeProblem(400);
});

it('GET /apps/{app}/app-info describes an LLM root and its tools', async () => {
  const answer = await server.client.get('/apps/team/app-info');

  expect(answer.status).toBe(200);
  const info = answer.json as { agents: Record<string, Record<string, unknown>> };
  expect(info).toMatchObject({
    name: 'team',
    rootAgentName: 'team_lead',
    description: 'Leads the team.',
    language: 'typescript',
    isComputerUse: false,
  });
  expect(info.agents['team_lead']).toMatchObject({
    name: 'team_lead',
    description: 'Leads the team.',
    instruction: 'You lead.',
    sub_agents: ['writer', 'pipeline'],
  });
  expect(info.agents['team_lead']!['tools']).toMatchObject([{ functionDeclarations: [{ name: 'look_up' }] }]);
  expect(answer.text).not.toContain(':null');
});

it.each([
  ['/apps/workflow/app-info', 400],
  ['/apps/nobody/app-info', 404],
])('GET %s is refused with %i', async (path, status) => {
  expect(await server.client.get(path)).toBeProblem(status);
});

it.each(['/dev/apps/chat/builder?ts=1', '/dev/apps/probe/builder', '/builder/app/chat'])(
  'GET %s answers YAML or nothing, and is never an error that the UI would show',
  async (path) => {
    const answer = await server.client.get(path);

    expect(answer).toBeAnyOf([200, 404]);
  },
);
