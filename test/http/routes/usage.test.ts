import { expect, it } from 'vitest';
import { counterRefs } from '../../../src/core/usage-store.ts';
import { agent, server, sessionPath } from '../server.ts';

const budgets = {
  run: { tokens: 5 },
  session: { tokens: 1_000, toolCalls: 3 },
  userDay: { cost: 2 },
  appDay: { modelCalls: 100 },
};
const key = { appName: 'demo', userId: 'u', sessionId: 's' };

it('says what is used and left of each budget that applies to a user and to a session', async () => {
  const runConfig = { budgets: { session: { tokens: 400 }, userDay: { cost: 50 } } };
  const { app, services } = await server({
    budgets,
    apps: { demo: { name: 'demo', rootAgent: agent('demo_agent'), runConfig } },
  });
  await services.sessions.createSession(key, { sessionId: 's' });
  const counters = Object.values(counterRefs({ ...key, runId: 'r' }, Date.now()));
  await services.usage.settle({ counters, used: { tokens: 500, cost: 0.5, modelCalls: 7 } });

  const midnight: unknown = expect.any(Number);
  const daily = [
    { scope: 'userDay', kind: 'cost', limit: 2, used: 0.5, remaining: 1.5, resetsAt: midnight },
    { scope: 'appDay', kind: 'modelCalls', limit: 100, used: 7, remaining: 93, resetsAt: midnight },
  ];
  expect((await app.inject('/apps/demo/users/u/usage')).json()).toEqual({ budgets: daily });
  expect((await app.inject(`${sessionPath('s')}/usage`)).json()).toEqual({
    budgets: [
      { scope: 'session', kind: 'tokens', limit: 400, used: 500, remaining: 0 },
      { scope: 'session', kind: 'toolCalls', limit: 3, used: 0, remaining: 3 },
      ...daily,
    ],
  });
  const other = (await app.inject('/apps/demo/users/v/usage')).json<{
    budgets: { used: number; resetsAt: number }[];
  }>();
  expect(other.budgets.map(({ used }) => used)).toEqual([0, 7]);
  expect(other.budgets.map(({ resetsAt }) => resetsAt % 86_400)).toEqual([0, 0]);
});

it('reports no budgets where there are none, and knows neither other apps nor other sessions', async () => {
  const { app, services } = await server();
  await services.sessions.createSession(key, { sessionId: 's' });
  services.usage.read = () => Promise.reject(new Error('asked'));

  expect((await app.inject('/apps/demo/users/u/usage')).json()).toEqual({ budgets: [] });
  expect((await app.inject(`${sessionPath('s')}/usage`)).json()).toEqual({ budgets: [] });
  expect((await app.inject(`${sessionPath('x')}/usage`)).json()).toMatchObject({ code: 'session_not_found' });
  expect((await app.inject('/apps/nowhere/users/u/usage')).json()).toMatchObject({ code: 'app_not_found' });
});
