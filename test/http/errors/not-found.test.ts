import { expect, it } from 'vitest';
import type { OpenApiDocument } from '../../../src/http/openapi/document.ts';
import { SteppedAgent, type Store, stores, withStores } from '../run-server.ts';

const runServer = withStores();

const one = '/apps/{appName}/users/{userId}/sessions/{sessionId}';
const message = { role: 'user', parts: [{ text: 'Hi' }] };
const request = { userId: 'u', newMessage: message };
/** Bodies that are right, by the end of the path. */
const bodies: Readonly<Record<string, object>> = {
  '/runs': { newMessage: message },
  '/rewind': { invocationId: 'none' },
  '/artifacts': { filename: 'x', artifact: { text: 'x' } },
  '/memory': { sessionId: 'none' },
  '/sessions/{sessionId}': { stateDelta: {} },
};

const words: Readonly<Record<string, RegExp>> = {
  app_not_found: /^App not found: none$/,
  session_not_found: /^Session not found: none$/,
  event_not_found: /^(?:Event|Invocation) not found: none$/,
  artifact_not_found: /^Artifact not found: none(?:, version 7)?$/,
  run_not_found: /^Run not found: none$/,
  trace_not_found: /^(?:Trace|Trace of event|Span) not found: none$/,
  not_found: /^Node not found: none$/,
};

interface Missing {
  readonly operation: string;
  readonly code: string;
  readonly detail: string;
}

/** What every operation answers about names that mean nothing: all but the app's, then all but the session's. */
async function missingOn(store: Store): Promise<Missing[]> {
  const agent = new SteppedAgent('Hi');
  agent.isOpen = true;
  const { app, key } = await runServer(agent, store);
  const { paths } = (await app.inject('/openapi.json')).json<OpenApiDocument>();
  const missing: Missing[] = [];
  const ask = async (operation: string, call: { method: string; url: string; payload?: object }): Promise<void> => {
    const answer = await app.inject({ ...call, method: call.method as 'GET' });
    if (answer.statusCode !== 404) return;
    const { code, detail } = answer.json<Missing>();
    missing.push({ operation, code, detail });
  };
  for (const [path, operations] of Object.entries(paths)) {
    const [, payload = {}] = Object.entries(bodies).find(([end]) => path.endsWith(end)) ?? [];
    for (const [method, { requestBody }] of Object.entries(operations)) {
      for (const sessionId of [key.sessionId, 'none']) {
        if (`${method} ${path}` === `post ${one}`) continue; // it creates what is not there
        // What changes something would change what is there for the next.
        if (path.includes('{sessionId}') ? method !== 'get' && sessionId !== 'none' : sessionId === 'none') continue;
        const values: Record<string, string> = { appName: 'app', userId: key.userId, sessionId, version: '7' };
        const url = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => values[name] ?? 'none');
        await ask(`${method} ${path}`, { method: method.toUpperCase(), url, ...(requestBody && { payload }) });
      }
    }
  }
  for (const url of ['/run', '/run_sse']) {
    for (const more of [{}, { resumable: true }, { onBusy: 'interrupt' }]) {
      const payload = { ...request, ...more, appName: 'app', sessionId: 'none' };
      await ask(`post ${url}`, { method: 'POST', url, payload });
    }
  }
  return missing;
}

it.each(stores)('says of everything that is not there the same, wherever it is named (%s)', async (store) => {
  const missing = await missingOn(store);

  for (const { operation, code, detail } of missing) {
    expect([operation, code, detail]).toEqual([operation, code, expect.stringMatching(words[code] ?? /^$/) as string]);
  }
  const named = missing.filter(({ code }) => code === 'session_not_found').map(({ operation }) => operation);
  expect(named).toEqual(
    expect.arrayContaining([
      ...['get', 'patch'].map((method) => `${method} ${one}`),
      ...['/events', '/runs', '/runs/{runId}', '/runs/{runId}/wait', '/runs/{runId}/stream', '/pending-requests'].map(
        (end) => `get ${one}${end}`,
      ),
      ...['/fork', '/rewind', '/runs', '/runs/{runId}/cancel', '/artifacts'].map((end) => `post ${one}${end}`),
      `put ${one}/artifacts/{artifactName}`,
      'post /run',
      'post /run_sse',
    ]),
  );
});
