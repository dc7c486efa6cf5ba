import { onTestFinished } from 'vitest';
import type { LiveInput } from '../../../src/core/model.ts';
import type { HttpConfig, LiveRunRequest } from '../../../src/http/deps.ts';
import type { Event } from '../../../src/schemas/event.ts';
import { LiveClient } from '../../support/live-client.ts';
import { listen, says, server } from '../server.ts';

/** A conversation as a test scripts it. */
export type LiveScript = (input: AsyncIterable<LiveInput>, signal: AbortSignal) => AsyncIterable<Event>;

export const key = { appName: 'demo', userId: 'u', sessionId: 's' };

/** A server whose live runs follow a script, and what was asked of them. */
export async function liveServer(script: LiveScript, config?: Partial<HttpConfig>) {
  const asked: { request: LiveRunRequest; signal: AbortSignal }[] = [];
  const { app, logged } = await server({
    async startLive(request, input, signal) {
      asked.push({ request, signal });
      return { invocationId: 'e-1', [Symbol.asyncIterator]: () => script(input, signal)[Symbol.asyncIterator]() };
    },
    ...(config && { config }),
  });
  const url = await listen(app);
  return {
    app,
    asked,
    logged,
    url,
    connect: async (options: { query?: string; headers?: Record<string, string> } = {}): Promise<LiveClient> => {
      const client = await LiveClient.connect(url, key, options);
      onTestFinished(() => client.socket.terminate());
      return client;
    },
  };
}

/** Says back what it hears, and what kind of thing it was. */
export async function* echo(input: AsyncIterable<LiveInput>): AsyncGenerator<Event> {
  for await (const heard of input) yield says(JSON.stringify(heard));
}

/** Hears nothing, says nothing, and ends with its signal. */
// oxlint-disable-next-line require-yield
export async function* silent(_input: AsyncIterable<LiveInput>, signal: AbortSignal): AsyncGenerator<Event> {
  await new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));
}
