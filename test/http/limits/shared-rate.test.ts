import { llmAgent } from 'agent-server';
import { type AgentServer, createServer, type ServerOptions } from 'agent-server/server';
import { expect, it, onTestFinished } from 'vitest';
import { newDatabase } from '../../support/shared.ts';

async function started(options: Omit<ServerOptions, 'agents'>): Promise<AgentServer> {
  const agents = [llmAgent({ name: 'demo', model: 'scripted', script: [{ match: '', text: 'Hello!' }] })];
  const server = createServer({ port: 0, logLevel: 'silent', env: {}, agents, ...options });
  onTestFinished(() => server.close());
  await server.listen();
  return server;
}

const statusOf = async (url: string): Promise<number> => {
  const response = await fetch(url);
  await response.arrayBuffer();
  return response.status;
};

it('lets as many requests through two servers on one PostgreSQL as through one', async () => {
  const options = { sessionService: await newDatabase(), limits: { requestsPerMinute: 100 } };
  const servers = [await started(options), await started(options)];

  const statuses = await Promise.all(
    Array.from({ length: 150 }, (_, index) => statusOf(`${servers[index % 2]?.url}/list-apps`)),
  );

  expect(statuses.filter((status) => status === 200)).toHaveLength(100);
  expect(statuses.filter((status) => status === 429)).toHaveLength(50);
});

it('counts neither health checks nor pages of the web UI, and adds nothing without a limit', async () => {
  const limited = await started({ limits: { requestsPerMinute: 0 } });
  const free = await started({});

  expect(await statusOf(`${limited.url}/health`)).toBe(200);
  expect(await statusOf(`${limited.url}/dev-ui/`)).toBe(200);
  expect(await statusOf(`${limited.url}/list-apps`)).toBe(429);
  expect(await statusOf(`${limited.url}/no-such-route`)).toBe(429);
  expect((await fetch(`${free.url}/list-apps`)).headers.has('ratelimit')).toBe(false);
});
