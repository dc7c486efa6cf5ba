import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, onTestFinished } from 'vitest';
import { errorPolicy } from '../../src/base/error-policy.ts';
import { newEvent } from '../../src/core/events/new-event.ts';
import type { Agent, Plugin, RunContext } from '../../src/core/runtime.ts';
import { buildApp } from '../../src/http/app.ts';
import type { HttpConfig } from '../../src/http/deps.ts';
import { defaultParts } from '../../src/http/development-parts.ts';
import { showsThrown } from '../../src/http/surface.ts';
import { LocalRunQueue } from '../../src/runner/queue/local-queue.ts';
import { LeasedRunQueue } from '../../src/runs/cluster/leased-queue.ts';
import { RunService } from '../../src/runs/run-service.ts';
import { textContent } from '../../src/schemas/content.ts';
import type { Event } from '../../src/schemas/event.ts';
import type { Run } from '../../src/schemas/run-record.ts';
import { openServices } from '../../src/services/open-services.ts';
import { TraceRecorder } from '../../src/telemetry/recorder.ts';
import { credentialExchanger } from '../../src/tools/auth/exchange.ts';
import { testRunner } from '../support/run.ts';
import { newDatabase } from '../support/shared.ts';
import { readFrames, type SseFrame } from '../support/sse-frames.ts';

/** Speaks one word at a time: the pieces first, then the whole, when the test says so. */
export class SteppedAgent implements Agent {
  readonly name = 'root';
  readonly begun: string[] = [];
  readonly #gates: PromiseWithResolvers<void>[] = [];
  readonly #words: readonly string[];

  constructor(...words: string[]) {
    this.#words = words;
  }

  /** Whether runs go on by themselves. */
  isOpen = false;

  /** Lets every run go on to its end. */
  open(): void {
    this.isOpen = true;
    for (const gate of this.#gates.splice(0)) gate.resolve();
  }

  /** Lets the run that waits go one event on. */
  step(): void {
    this.#gates.shift()?.resolve();
  }

  get isWaiting(): boolean {
    return this.#gates.length > 0;
  }

  async *run(ctx: RunContext): AsyncIterable<Event> {
    this.begun.push(ctx.userContent?.parts[0]?.text ?? '');
    for (const word of this.#words) {
      for (const text of word) {
        await this.#next(ctx.signal);
        yield newEvent(ctx, this.name, { partial: true, content: textContent('model', text) });
      }
      await this.#next(ctx.signal);
      yield newEvent(ctx, this.name, { content: textContent('model', word) });
    }
  }

  async #next(signal: AbortSignal): Promise<void> {
    if (this.isOpen) return;
    const gate = Promise.withResolvers<void>();
    this.#gates.push(gate);
    signal.addEventListener('abort', () => gate.reject(signal.reason));
    await gate.promise;
  }
}

/** Where runs and sessions are kept. */
export const stores = ['memory', 'sqlite', 'postgres'] as const;
export type Store = (typeof stores)[number];

interface Options {
  readonly store: Store;
  /** Default 2. */
  readonly maxQueued?: number;
  readonly plugins?: readonly Plugin[];
  readonly config?: Partial<HttpConfig>;
  readonly maxBackgroundRuns?: number;
}

/** For the tests of one file: makes what the stores need, and cleans up after them. */
export function withStores(): (agent: Agent, options: Store | Options) => ReturnType<typeof runServer> {
  const folder = mkdtempSync(join(tmpdir(), 'agent-runs-'));
  const uris = { memory: 'memory:', sqlite: `sqlite:${join(folder, 'runs.db')}`, postgres: '' };
  beforeAll(async () => {
    uris.postgres = await newDatabase();
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return (agent, options) => {
    const { store, ...rest } = typeof options === 'string' ? { store: options } : options;
    return runServer(agent, uris[store], rest);
  };
}

/** A server over the real runner, with one app and a session for it. */
async function runServer(
  agent: Agent,
  sessionService: string,
  { maxQueued = 2, plugins = [], config, maxBackgroundRuns }: Omit<Options, 'store'>,
) {
  const opened = openServices({ sessionService, artifactService: 'memory:', memoryService: 'memory:' });
  const { sessions, artifacts, runs: store, databases } = opened;
  const durable = store && { store, queue: new LeasedRunQueue({ store, sessions, maxQueued }) };
  const queue = durable?.queue ?? new LocalRunQueue(maxQueued);
  const host = config?.host ?? '127.0.0.1';
  const errors = errorPolicy({ showsThrown: showsThrown(host, defaultParts(host)), folders: [process.cwd()] });
  const { runner, key, services } = await testRunner(agent, {
    errors,
    queue,
    services: { sessions, artifacts },
    credentials: credentialExchanger(store && (() => store.secret())),
    plugins,
  });
  await sessions.createSession(key, { sessionId: key.sessionId });
  const service = new RunService({ runner, queue, services, durable, maxBackgroundRuns });
  const loader = {
    listAgents: async () => ['app'],
    loadAgent: async () => ({ name: 'app', rootAgent: agent }),
    close: async () => {},
  };
  const app = await buildApp({
    loader,
    services,
    runner,
    runs: service,
    traces: new TraceRecorder(),
    version: '1.2.3',
    errors,
    log: { info: () => {}, warn: () => {}, error: () => {} },
    config: { shutdownGraceMs: 0, ...config },
  });
  onTestFinished(async () => {
    await app.close();
    await databases.close();
  });
  const runs = `/apps/app/users/u/sessions/${key.sessionId}/runs`;

  return {
    app,
    key,
    services,
    runs,
    start: (text: string, fields: object = {}, headers: Record<string, string> = {}) =>
      app.inject({ method: 'POST', url: runs, headers, payload: { newMessage: message(text), ...fields } }),
    read: async (id: string): Promise<Run> => (await app.inject(`${runs}/${id}`)).json(),
    wait: async (id: string): Promise<Run> => (await app.inject(`${runs}/${id}/wait?timeoutMs=5000`)).json(),
    cancel: (id: string, payload?: object) =>
      app.inject({ method: 'POST', url: `${runs}/${id}/cancel`, ...(payload && { payload }) }),
    follow: async (id: string, last?: string): Promise<SseFrame[]> => {
      const headers = last === undefined ? {} : { 'last-event-id': last };
      return readFrames((await app.inject({ url: `${runs}/${id}/stream`, headers })).body).frames;
    },
    texts: async (): Promise<string[]> => {
      const session = await services.sessions.getSession(key);
      return session!.events.map(({ content, errorCode }) => content?.parts[0]?.text ?? errorCode ?? '');
    },
  };
}

const message = (text: string): object => ({ role: 'user', parts: [{ text }] });
