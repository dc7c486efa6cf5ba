import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { functionTool, llmAgent, type Model } from 'agent-server';
import { createServer, type ServerOptions } from 'agent-server/server';
import { expect, it, onTestFinished } from 'vitest';
import { newDatabase } from '../support/shared.ts';

/** A model that calls a tool in every response, and uses 100 tokens for it. */
const model: Model = {
  name: 'ticking',
  async *generate() {
    yield {
      content: { role: 'model', parts: [{ functionCall: { name: 'tick', args: {} } }] },
      usageMetadata: { promptTokenCount: 60, candidatesTokenCount: 40, totalTokenCount: 100 },
    };
  },
};
const tick = functionTool({ name: 'tick', description: 'Ticks.', run: () => ({ ok: true }) });

async function started(options: Partial<ServerOptions>) {
  const agents = llmAgent({ name: 'demo', model, tools: [tick] });
  const server = createServer({ port: 0, logLevel: 'silent', env: {}, agents, ...options });
  onTestFinished(() => server.close());
  const url = await server.listen();
  const run = (sessionId: string, path = '/run') =>
    fetch(`${url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        appName: 'demo',
        userId: 'ada',
        sessionId,
        newMessage: { role: 'user', parts: [{ text: 'go' }] },
        runConfig: { autoCreateSession: true, budgets: { userDay: { tokens: 1_000_000 } } },
      }),
    });
  const usage = async (path = ''): Promise<{ used: number; remaining: number }[]> => {
    const answer = await fetch(`${url}/apps/demo/users/ada${path}/usage`);
    return ((await answer.json()) as { budgets: { used: number; remaining: number }[] }).budgets;
  };
  return { server, run, usage };
}

it('ends runs over HTTP, says what is left, and keeps its counts in SQLite over a restart', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'agent-budgets-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const sessionService = `sqlite:${join(folder, 'sessions.db')}`;
  const budgets = { session: { tokens: 300 }, userDay: { tokens: 500 } };
  const first = await started({ sessionService, budgets });

  const answer = await first.run('s1');
  expect(answer.status).toBe(429);
  expect(answer.headers.get('retry-after')).toBeNull();
  expect(await answer.json()).toMatchObject({
    code: 'budget_exceeded',
    detail: 'Budget exceeded: the session may use 300 tokens, 300 are used',
  });
  expect(await first.usage('/sessions/s1')).toMatchObject([
    { scope: 'session', used: 300, remaining: 0 },
    { scope: 'userDay', used: 300, remaining: 200 },
  ]);
  await first.server.close();

  const second = await started({ sessionService, budgets });
  const stream = await (await second.run('s2', '/run_sse')).text();
  expect(stream).toContain('"customMetadata":{"budget":{"scope":"userDay","kind":"tokens","limit":500,"used":500');
  expect(await second.usage()).toMatchObject([{ scope: 'userDay', used: 500, remaining: 0 }]);
  expect((await second.run('s3')).headers.get('retry-after')).toMatch(/^\d+$/);
});

it('shares a budget among servers on one PostgreSQL, and exceeds it by at most the call in flight', async () => {
  const sessionService = await newDatabase();
  const options = { sessionService, budgets: { appDay: { tokens: 1_050 } } };
  const [one, other] = [await started(options), await started(options)];

  const answers = await Promise.all(
    Array.from({ length: 6 }, (_, index) => (index % 2 ? one : other).run(`s${index}`)),
  );

  expect(answers.map(({ status }) => status)).toEqual(Array<number>(6).fill(429));
  expect((await other.usage())[0]?.used).toBeGreaterThanOrEqual(1_000);
  expect((await one.usage())[0]?.used).toBeLessThanOrEqual(1_100);
});
