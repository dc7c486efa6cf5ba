import { expect, it } from 'vitest';
import type { CallerIdentity } from '../../../src/identity/authenticate-function.ts';
import { LiveClient } from '../../support/live-client.ts';
import { type Answer, headersOf, knowingServer, runOf } from './scene.ts';

const identity: CallerIdentity = { userId: 'ada', limits: { budgets: { userDay: { modelCalls: 2 } } } };

const started = () =>
  knowingServer({ authenticate: () => identity, budgets: { userDay: { modelCalls: 5 }, session: { modelCalls: 50 } } });

it('ends the runs of a caller by the budgets of its credential, which a request cannot raise', async () => {
  const { call, url } = await started();
  const body = runOf('ada', { runConfig: { autoCreateSession: true, budgets: { userDay: { modelCalls: 99 } } } });
  const run = (path: string): Promise<Answer> => call('ada', `POST ${path}`, body);

  expect([(await run('/run')).status, (await run('/run')).status]).toEqual([200, 200]);
  expect((await run('/run')).status).toBe(429);
  expect((await run('/run_sse')).text).toContain('"limit":2,"used":2');
  const { id } = JSON.parse((await run('/apps/demo/users/ada/sessions/s/runs')).text) as { id: string };
  const ended = await call('ada', `GET /apps/demo/users/ada/sessions/s/runs/${id}/wait`);
  expect(ended.text).toContain('budget_exceeded');
  const live = await LiveClient.connect(
    url,
    { appName: 'demo', userId: 'ada', sessionId: 's' },
    { headers: headersOf('ada') },
  );
  live.say('Hi');
  await live.frame(({ errorCode }) => errorCode === 'budget_exceeded');
  live.socket.close();
});

it('reports the budgets of the credential', async () => {
  const { call } = await started();
  await call('ada', 'POST /run', runOf('ada'));

  expect(JSON.parse((await call('ada', 'GET /apps/demo/users/ada/usage')).text)).toMatchObject({
    budgets: [{ scope: 'userDay', kind: 'modelCalls', limit: 2, used: 1, remaining: 1 }],
  });
});
