import type { AddressInfo } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { onTestFinished } from 'vitest';
import { AppError } from '../../src/base/errors.ts';
import { newEvent } from '../../src/core/events/new-event.ts';
import type { Log } from '../../src/core/log.ts';
import type { Agent, AgentLoader, App } from '../../src/core/runtime.ts';
import type { ArtifactService } from '../../src/core/services.ts';
import { buildApp } from '../../src/http/app.ts';
import type { HttpConfig, HttpDeps, LiveStarter, SessionBrancher, TraceReader } from '../../src/http/deps.ts';
import type { Authenticator } from '../../src/identity/authenticator.ts';
import { LocalRunQueue } from '../../src/runner/queue/local-queue.ts';
import type { Run } from '../../src/runner/run-events.ts';
import { RunService } from '../../src/runs/run-service.ts';
import type { Budgets } from '../../src/schemas/budget.ts';
import { textContent } from '../../src/schemas/content.ts';
import type { Event } from '../../src/schemas/event.ts';
import type { Prices } from '../../src/schemas/prices.ts';
import type { RunRequest } from '../../src/schemas/run.ts';
import { InMemoryArtifacts } from '../../src/services/artifacts/in-memory.ts';
import { InMemoryMemories } from '../../src/services/memories/in-memory.ts';
import { InMemorySessions } from '../../src/services/sessions/in-memory.ts';
import { InMemoryUsage } from '../../src/services/usage/in-memory.ts';
import { TraceRecorder } from '../../src/telemetry/recorder.ts';

/** What a scripted run does: yields events, waits, throws. */
export type Script = (request: RunRequest, signal: AbortSignal) => AsyncIterable<Event>;

export interface Logged {
  readonly level: 'info' | 'warn' | 'error';
  readonly fields: object;
  readonly message: string;
}

/** What the routes and the run service need of a runner. */
interface TestRunner {
  enqueue(request: RunRequest, signal: AbortSignal): Promise<TestPending>;
}

interface TestPending {
  readonly runId: string;
  readonly isWaiting: boolean;
  readonly isPersisted: boolean;
  begin(): Promise<Run>;
}

interface ServerOptions {
  readonly script?: Script;
  readonly runner?: TestRunner;
  readonly startLive?: LiveStarter['startLive'];
  readonly apps?: Readonly<Record<string, App | Error>>;
  /** Instead of `apps`. */
  readonly loader?: AgentLoader;
  readonly traces?: Partial<TraceReader>;
  readonly prices?: Prices;
  readonly budgets?: Budgets;
  readonly artifacts?: ArtifactService;
  readonly tryTool?: HttpDeps['tryTool'];
  readonly authenticator?: Authenticator;
  readonly config?: Partial<HttpConfig>;
}

export const agent = (name: string, fields: Partial<Agent> = {}): Agent => ({
  name,
  kind: 'llm',
  async *run() {},
  ...fields,
});

/** A server over real in-memory services and a scripted runner; closed after the test. */
export async function server({
  script = sayHello,
  runner,
  startLive = noLive,
  apps = demoApps(),
  loader = loaderOf(apps),
  traces = noTraces,
  prices = {},
  budgets,
  artifacts = new InMemoryArtifacts(),
  tryTool,
  authenticator,
  config,
}: ServerOptions = {}) {
  const services = {
    sessions: new InMemorySessions(),
    artifacts,
    memories: new InMemoryMemories(),
    usage: new InMemoryUsage(),
  };
  const logged: Logged[] = [];
  const log: Log = {
    info: (fields, message) => void logged.push({ level: 'info', fields, message }),
    warn: (fields, message) => void logged.push({ level: 'warn', fields, message }),
    error: (fields, message) => void logged.push({ level: 'error', fields, message }),
  };
  const starter = runner ?? scriptedRunner(script);
  const app = await buildApp({
    loader,
    services,
    runner: { ...noBranching, startLive, ...starter },
    runs: new RunService({ runner: { ...starter, enqueueLost }, queue: new LocalRunQueue(), services }),
    traces: traces instanceof TraceRecorder ? traces : { ...noTraces, ...traces },
    prices,
    budgets,
    ...(tryTool && { tryTool }),
    authenticator,
    version: '1.2.3',
    log,
    config: { shutdownGraceMs: 0, ...config },
  });
  onTestFinished(() => app.close());
  return { app, services, logged };
}

/** Opens a port for tests that need real sockets. Returns the base URL. */
export async function listen(app: FastifyInstance): Promise<string> {
  await app.listen({ port: 0, host: '127.0.0.1' });
  return `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`;
}

export const sessionPath = (sessionId: string): string => `/apps/demo/users/u/sessions/${sessionId}`;

export const runBody = (text = 'Hi', more: object = {}): object => ({
  appName: 'demo',
  userId: 'u',
  sessionId: 's',
  newMessage: { role: 'user', parts: [{ text }] },
  ...more,
});

export const says = (text: string, fields: Partial<Event> = {}): Event =>
  newEvent({ invocationId: 'e-1' }, 'demo_agent', { content: textContent('model', text), ...fields });

async function* sayHello(): AsyncGenerator<Event> {
  yield says('Hello!');
}

const noLive: LiveStarter['startLive'] = () => Promise.reject(new Error('These tests do not talk'));

const noTraces: TraceReader = {
  forEvent: () => undefined,
  forSession: () => [],
  list: () => ({ traces: [] }),
  trace: () => undefined,
  span: () => undefined,
  changes: () => ({ spans: [], mark: 0, running: false }),
  forget: () => {},
};

const noBranching: SessionBrancher = {
  fork: () => Promise.reject(new Error('These tests do not fork')),
  rewind: () => Promise.reject(new Error('These tests do not rewind')),
};

const enqueueLost = () => Promise.reject(new Error('These tests lose no servers'));

export const scriptedRunner = (script: Script): TestRunner => ({
  async enqueue(request, signal) {
    if (request.sessionId === 'missing') throw new AppError('session_not_found', 'Session not found: missing');
    const run = {
      invocationId: 'e-1',
      signal,
      [Symbol.asyncIterator]: () => script(request, signal)[Symbol.asyncIterator](),
    };
    return { runId: 'e-1', isWaiting: false, isPersisted: false, begin: async () => run };
  },
});

const demoApps = (): Record<string, App> => ({ demo: { name: 'demo', rootAgent: agent('demo_agent') } });

function loaderOf(apps: Readonly<Record<string, App | Error>>): AgentLoader {
  return {
    listAgents: async () => Object.keys(apps).toSorted(),
    async loadAgent(name) {
      const app = apps[name];
      if (!app) throw new AppError('app_not_found', `App not found: ${name}`);
      if (app instanceof Error) throw app;
      return app;
    },
    close: async () => {},
  };
}
