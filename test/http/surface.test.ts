import { expect, it } from 'vitest';
import { newEvent } from '../../src/core/events/new-event.ts';
import { httpDefaults } from '../../src/http/deps.ts';
import { type DevelopmentPart, developmentParts } from '../../src/http/development-parts.ts';
import type { Authenticator } from '../../src/identity/authenticator.ts';
import { newActions } from '../../src/schemas/event.ts';
import { runBody, server, sessionPath } from './server.ts';

type Server = Awaited<ReturnType<typeof server>>['app'];

const exposed = (...parts: DevelopmentPart[]) =>
  server({ config: { host: '0.0.0.0', ...(parts.length > 0 && { development: new Set(parts) }) }, tryTool });
const tryTool = () => Promise.resolve({ events: [] });

async function operationsOf(app: Server): Promise<string[]> {
  const { paths } = (await app.inject('/openapi.json')).json() as { paths: Record<string, object> };
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  );
}

const call = (app: Server, operation: string) => {
  const [method = '', path = ''] = operation.split(' ');
  const url = path.replaceAll(/\{\w+\}/g, 'demo');
  return app.inject({ method: method as 'GET', url, ...(method !== 'GET' && { payload: {} }) });
};

it('serves all of the API on a loopback address', async () => {
  const { app } = await server({ tryTool });

  expect(httpDefaults.host).toBe('127.0.0.1');
  expect((await app.inject('/capabilities')).json()).toMatchObject({ development: developmentParts });
  for (const operation of await operationsOf(app)) {
    expect({ operation, body: (await call(app, operation)).body }).not.toMatchObject({
      body: expect.stringContaining('development_route_off') as string,
    });
  }
});

it('refuses every route for development elsewhere, and describes none of them', async () => {
  const all = await operationsOf((await server({ tryTool })).app);
  const { app } = await exposed();
  const served = await operationsOf(app);
  const off = all.filter((operation) => !served.includes(operation));

  expect(
    served.filter((operation) => /trace|eval|builder|graph|app-info|tools|\/dev\/|debug|span/.test(operation)),
  ).toEqual([]);
  expect(off).toEqual(
    expect.arrayContaining(['GET /traces', 'POST /apps/{appName}/tools/run', 'GET /apps/{appName}/app-info']),
  );
  for (const operation of off) {
    const answer: object = (await call(app, operation)).json();
    expect({ operation, ...answer }).toMatchObject({
      operation,
      status: 403,
      code: 'development_route_off',
      detail: expect.stringMatching(/Start the server with --surface [a-z-]+ to allow it/) as string,
    });
  }
  const { features, development } = (await app.inject('/capabilities')).json() as Record<string, string[]>;
  expect(development).toEqual([]);
  expect(features).not.toEqual(expect.arrayContaining([expect.stringMatching(/trace|span|tool|graph|eval/)]));
  expect(features).toEqual(expect.arrayContaining(['runs', 'fork', 'live', 'session-summaries']));
  expect((await app.inject('/docs')).body).not.toContain('/debug/trace');
});

it('serves a part that was switched on alone', async () => {
  const { app } = await exposed('traces');

  expect((await app.inject('/traces')).statusCode).toBe(200);
  expect((await call(app, 'GET /apps/{appName}/agent-graph')).json()).toMatchObject({ code: 'development_route_off' });
  expect((await app.inject('/capabilities')).json()).toMatchObject({ development: ['traces'] });
});

it('lists apps without what is wrong with them', async () => {
  const apps = { broken: new Error('at /home/ada/agents/broken/agent.ts:3') };
  const { app } = await server({ apps, config: { host: '0.0.0.0' } });
  const local = await server({ apps });

  const summary = { name: 'broken', error: 'This app does not work as it is' };
  expect((await app.inject('/list-apps?detailed=true')).json()).toMatchObject({ apps: [summary] });
  expect((await local.app.inject('/list-apps?detailed=true')).json()).toMatchObject({
    apps: [{ error: expect.stringContaining('at /home/ada/agents/broken/agent.ts:3') }],
  });
});

it('tells only developers what is wrong with an app, where callers are known', async () => {
  const apps = { broken: new Error('at /home/ada/agents/broken/agent.ts:3') };
  const authenticator: Authenticator = {
    authenticate: async ({ headers }) => ({
      id: 'ada',
      userId: 'ada',
      actsForUsers: false,
      roles: new Set([headers['authorization'] === 'developer' ? 'developer' : 'user']),
    }),
  };
  const { app } = await server({ apps, authenticator });
  const errorFor = async (authorization: string): Promise<string> =>
    (await app.inject({ url: '/list-apps?detailed=true', headers: { authorization } })).body;

  expect(await errorFor('user')).toContain('This app does not work as it is');
  expect(await errorFor('user')).not.toContain('agent.ts');
  expect(await errorFor('developer')).not.toContain('This app does not work as it is');
});

const imported = newEvent({ invocationId: 'e-0' }, 'user', { content: { role: 'user', parts: [{ text: 'Hi' }] } });
const forApp = { 'app:motd': 'mine' };

it.each([
  ['POST', '/apps/demo/users/u/sessions', { events: [imported] }],
  ['POST', sessionPath('new'), { events: [imported] }],
])('refuses a history that a client brings along: %s %s', async (method, url, payload) => {
  const { app, services } = await exposed();
  const local = await server();

  const answer = await app.inject({ method: method as 'POST', url, payload });
  expect(answer.json()).toMatchObject({ status: 403, code: 'import_not_allowed' });
  expect(await services.sessions.listSessions({ appName: 'demo', userId: 'u' })).toEqual([]);
  expect((await app.inject({ method: 'POST', url, payload: { events: [] } })).statusCode).toBe(200);
  expect((await local.app.inject({ method: method as 'POST', url, payload })).statusCode).toBe(200);
  const { app: allowed } = await exposed('import');
  expect((await allowed.inject({ method: 'POST', url, payload })).statusCode).toBe(200);
  const withState = { ...imported, actions: { ...newActions(), stateDelta: forApp } };
  const smuggled = await allowed.inject({ method: 'POST', url, payload: { events: [withState] } });
  expect(smuggled.json()).toMatchObject({ code: 'app_state_not_allowed' });
});

it.each([
  ['POST', '/apps/demo/users/u/sessions', { state: forApp }],
  ['POST', sessionPath('new'), { state: forApp }],
  ['POST', sessionPath('new'), forApp],
  ['PATCH', sessionPath('s'), { stateDelta: forApp }],
  ['PATCH', sessionPath('s'), { state_delta: { 'app:motd': null } }],
  ['POST', '/run', runBody('Hi', { stateDelta: forApp })],
  ['POST', '/run_sse', runBody('Hi', { state_delta: forApp })],
  ['POST', '/run_sse', runBody('Hi', { stateDelta: forApp, resumable: true })],
  ['POST', `${sessionPath('s')}/runs`, { newMessage: { parts: [{ text: 'Hi' }] }, stateDelta: forApp }],
  ['POST', `${sessionPath('s')}/fork`, { state: forApp }],
])('refuses what a client writes for all users of an app: %s %s', async (method, url, payload) => {
  const { app, services } = await exposed();
  await services.sessions.createSession({ appName: 'demo', userId: 'u' }, { sessionId: 's' });

  const answer = await app.inject({ method: method as 'POST', url, payload });

  expect(answer.json()).toMatchObject({ status: 403, code: 'app_state_not_allowed' });
  const other = await services.sessions.createSession({ appName: 'demo', userId: 'alice' }, {});
  expect(other.state).toEqual({});
});

it('lets clients write the state of the app where they may', async () => {
  for (const { app } of [await server(), await exposed('app-state')]) {
    const answer = await app.inject({ method: 'POST', url: sessionPath('s'), payload: { state: forApp } });
    expect(answer.json()).toMatchObject({ state: forApp });
  }
});
