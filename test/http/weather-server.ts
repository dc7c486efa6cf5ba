import { onTestFinished } from 'vitest';
import { Evaluations } from '../../src/evaluation/evaluations.ts';
import { buildApp } from '../../src/http/app.ts';
import { staticLoader } from '../../src/loaders/static.ts';
import { createModelRegistry } from '../../src/models/registry.ts';
import { LocalRunQueue } from '../../src/runner/queue/local-queue.ts';
import { Runner } from '../../src/runner/runner.ts';
import { RunService } from '../../src/runs/run-service.ts';
import type { ScriptRule } from '../../src/schemas/script.ts';
import { InMemoryArtifacts } from '../../src/services/artifacts/in-memory.ts';
import { InMemorySessions } from '../../src/services/sessions/in-memory.ts';
import { TraceRecorder } from '../../src/telemetry/recorder.ts';
import { weatherApp } from '../evaluation/scene.ts';

/** The whole server over one scripted app, with a session "s" in which the weather was asked for. */
export async function weatherServer(script?: readonly ScriptRule[]) {
  const services = { sessions: new InMemorySessions(), artifacts: new InMemoryArtifacts() };
  const environment = {
    loader: staticLoader([weatherApp(script)]),
    services,
    models: createModelRegistry({ env: {} }),
  };
  const queue = new LocalRunQueue();
  const runner = new Runner({ ...environment, queue });
  const app = await buildApp({
    ...environment,
    runner,
    runs: new RunService({ runner, queue, services }),
    evaluations: new Evaluations(environment),
    traces: new TraceRecorder(),
    version: '1.2.3',
    log: { info: () => {}, warn: () => {}, error: () => {} },
    config: { shutdownGraceMs: 0 },
  });
  onTestFinished(() => app.close());
  const send = async (method: 'GET' | 'POST' | 'PUT' | 'DELETE', url: string, payload?: object) => {
    const answer = await app.inject({ method, url, ...(payload && { payload }) });
    return { status: answer.statusCode, body: JSON.parse(answer.body), text: answer.body };
  };
  await send('POST', '/apps/weather/users/u/sessions/s', {});
  for (const text of script ? ['hello'] : ['weather in Paris', 'hello']) {
    const newMessage = { role: 'user', parts: [{ text }] };
    await send('POST', '/run', { appName: 'weather', userId: 'u', sessionId: 's', newMessage });
  }
  return { app, send };
}
