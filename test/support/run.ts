import { randomUUID } from 'node:crypto';
import { newEvent } from '../../src/core/events/new-event.ts';
import type { ModelRegistry } from '../../src/core/model.ts';
import type { Agent, App, RunContext } from '../../src/core/runtime.ts';
import { Runner, type RunnerOptions } from '../../src/runner/runner.ts';
import { textContent } from '../../src/schemas/content.ts';
import type { Event } from '../../src/schemas/event.ts';
import { RunRequest } from '../../src/schemas/run.ts';
import type { SessionKey } from '../../src/schemas/session.ts';
import { InMemoryArtifacts } from '../../src/services/artifacts/in-memory.ts';
import { InMemorySessions } from '../../src/services/sessions/in-memory.ts';

const noModels: ModelRegistry = {
  resolve: (name) => {
    throw new Error(`No model "${name}" in this test`);
  },
  isConfigured: () => false,
};

/** A signal that never aborts. */
export const open = new AbortController().signal;

/** A runner over in-memory services with one app, and a fresh session for it. */
export async function testRunner(
  rootAgent: Agent,
  options: Partial<RunnerOptions> & { app?: Partial<App> } = {},
): Promise<{ runner: Runner; key: SessionKey; services: RunnerOptions['services'] }> {
  const { app, ...rest } = options;
  const services = { sessions: new InMemorySessions(), artifacts: new InMemoryArtifacts() };
  const key = { appName: 'app', userId: 'u', sessionId: randomUUID() };
  await services.sessions.createSession(key, { sessionId: key.sessionId });
  const runner = new Runner({
    loader: {
      listAgents: async () => ['app'],
      loadAgent: async () => ({ name: 'app', rootAgent, ...app }),
      close: async () => {},
    },
    services,
    models: noModels,
    ...rest,
  });
  return { runner, key, services: { ...services, ...rest.services } };
}

/** A run request of one text message. */
export const say = (key: SessionKey, text: string, fields: object = {}): RunRequest =>
  RunRequest.parse({ ...key, newMessage: { role: 'user', parts: [{ text }] }, ...fields });

/** An agent that says the given texts, one event each. */
export const saying = (...texts: string[]): Agent => ({
  name: 'root',
  async *run(ctx: RunContext): AsyncIterable<Event> {
    for (const text of texts) yield newEvent(ctx, ctx.agent.name, { content: textContent('model', text) });
  },
});

/** Starts a run and collects its events. */
export async function runAll(runner: Runner, request: RunRequest, signal: AbortSignal = open): Promise<Event[]> {
  return Array.fromAsync(await runner.start(request, signal));
}
