import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type IncomingMessage, request as httpRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as nextIteration } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { compose, type Composed } from '../../src/app/compose.ts';
import { Config } from '../../src/app/config.ts';

/**
 * The longest that one request may keep the event loop, in milliseconds of this thread's processor time: 100 on a machine
 * of its own, and twice that beside other tests, which share its cores and caches.
 */
const longestTurnMs = 200;

const silent = { info() {}, warn() {}, error() {} };
let server: Composed;
let port: number;
let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'largest-'));
  const agents = join(folder, 'agents');
  for (let index = 0; index < 300; index += 1) {
    const name = index === 0 ? 'demo' : `app${index}`;
    mkdirSync(join(agents, name), { recursive: true });
    writeFileSync(
      join(agents, name, 'root_agent.yaml'),
      `name: ${name}\nmodel: scripted\ninstruction: Be brief.\nscript:\n  - text: Hello!\n`,
    );
  }
  mkdirSync(join(agents, 'endless'));
  writeFileSync(
    join(agents, 'endless/agent.ts'),
    `import { functionTool, llmAgent } from '${new URL('../../src/index.ts', import.meta.url).href}';
const again = functionTool({ name: 'again', description: 'x', parameters: { type: 'object' }, run: () => ({ ok: true }) });
const model = { name: 'instant', async *generate() { globalThis.instantCalls = (globalThis.instantCalls ?? 0) + 1; yield { content: { role: 'model', parts: [{ functionCall: { name: 'again', args: {} } }] } }; } };
export const rootAgent = llmAgent({ name: 'endless', model, tools: [again], maxSteps: 1e9 });
`,
  );
  server = await compose(Config.parse({ agents, maxLlmCalls: 0 }), { env: {}, log: silent, version: '0' });
  await server.app.listen({ port: 0, host: '127.0.0.1' });
  port = (server.app.server.address() as AddressInfo).port;
});

afterAll(async () => {
  await server.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Sends bytes that were made before, and throws the answer away as it comes: the client costs this thread next to nothing. */
async function send(method: string, path: string, body?: Buffer | string): Promise<{ status: number; bytes: number }> {
  const bytes = body === undefined ? undefined : Buffer.from(body);
  const request = httpRequest({ port, method, path, headers: { 'content-type': 'application/json' } });
  request.end(bytes);
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  let size = 0;
  for await (const chunk of response) size += (chunk as Buffer).length;
  return { status: response.statusCode ?? 0, bytes: size };
}

/** The most processor time that passed between two turns of the event loop while the work was going on. */
async function longestTurn(work: () => Promise<unknown>): Promise<number> {
  let longest = 0;
  const over = new AbortController();
  const watching = (async () => {
    let before = spentMs();
    while (!over.signal.aborted) {
      await nextIteration();
      const now = spentMs();
      longest = Math.max(longest, now - before);
      before = now;
    }
  })();
  try {
    await work();
  } finally {
    over.abort();
    await watching;
  }
  return longest;
}

function spentMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

/** What the endless agent leaves behind. */
const counted = globalThis as { instantCalls?: number };

const json = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));
const keys = (count: number, value: unknown = 1): Record<string, unknown> =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`key_number_${index}`, value]));
const users = (name: string): string => `/apps/demo/users/${name}/sessions`;
const message = (parts: unknown[], more: object = {}): Buffer =>
  json({ appName: 'demo', userId: 'u', sessionId: 's', newMessage: { role: 'user', parts }, ...more });
const event = (index: number, more: object = {}): object => ({
  id: `event-${index}`,
  invocationId: `e-${Math.floor(index / 2)}`,
  author: index % 2 === 0 ? 'user' : 'demo',
  timestamp: 1_790_000_000 + index,
  content: { role: index % 2 === 0 ? 'user' : 'model', parts: [{ text: `Words of event ${index}` }] },
  actions: {},
  ...more,
});

/** The longest turn of the event loop while a request was answered, beside the status it got. */
async function costOf(method: string, path: string, body?: Buffer): Promise<{ status: number; ms: number }> {
  let status = 0;
  const ms = await longestTurn(async () => ({ status } = await send(method, path, body)));
  return { status, ms };
}

/** The requests that kept the event loop too long. */
const tooDear = (costs: Readonly<Record<string, { ms: number }>>): string[] =>
  Object.entries(costs).flatMap(([request, { ms }]) => (ms < longestTurnMs ? [] : `${request}: ${ms.toFixed(0)} ms`));

const states: Record<string, Record<string, unknown>> = {
  '50,000 keys': keys(50_000),
  '9.9 MB of text': { text: 'x'.repeat(9_900_000) },
  '199,000 numbers': { list: Array<number>(199_000).fill(1) },
  '99,000 small objects': { list: Array.from({ length: 99_000 }, () => ({ a: 1 })) },
  '1,900 objects of 100 keys': keys(1_900, keys(100)),
};

it.each(Object.entries(states))('leaves others their turn at a session with a state of %s', async (name, state) => {
  const owner = encodeURIComponent(name);
  const one = `${users(owner)}/s`;
  const delta = Object.fromEntries(Object.entries(state).slice(0, 10_000));
  const question = { appName: 'demo', userId: name, sessionId: 's', newMessage: { parts: [{ text: 'x' }] } };
  const costs = {
    create: await costOf('POST', one, json({ state })),
    patch: await costOf('PATCH', one, json({ stateDelta: delta })),
    get: await costOf('GET', one),
    fork: await costOf('POST', `${one}/fork`, json({})),
    run: await costOf('POST', '/run', json({ ...question, stateDelta: delta })),
    list: await costOf('GET', users(owner)),
    summaries: await costOf('GET', `/apps/demo/users/${owner}/session-summaries?q=nothing`),
  };

  for (const cost of Object.values(costs)) expect(cost.status).toBe(200);

  expect(tooDear(costs)).toEqual([]);
});

it.each([
  ['brackets only', Buffer.alloc(9_900_000, '['), 400],
  ['three million objects', Buffer.from(`[${'{},'.repeat(3_000_000)}{}]`), 413],
  ['70,000 keys', json({ state: keys(70_000) }), 413],
  ['201,000 numbers', json({ state: { list: Array<number>(201_000).fill(1) } }), 413],
])('refuses a body of %s without working on it', async (_, body, status) => {
  const cost = await costOf('POST', `${users('refused')}/s`, body);

  expect(cost.status).toBe(status);
  expect(cost.ms).toBeLessThan(longestTurnMs);
});

it('refuses to let a state grow without end', async () => {
  const one = `${users('growing')}/s`;
  await send('POST', one, json({ state: keys(45_000) }));

  const more = Object.fromEntries(Array.from({ length: 6_000 }, (_, index) => [`more_${index}`, 1]));
  expect((await send('PATCH', one, json({ stateDelta: more }))).status).toBe(413);
  const long = { a: 'x'.repeat(9_000_000) };
  expect((await send('PATCH', one, json({ stateDelta: long }))).status).toBe(200);
  expect((await send('PATCH', one, json({ stateDelta: { b: long.a } }))).status).toBe(413);
  expect((await send('PATCH', one, json({ stateDelta: { a: 'short', b: long.a } }))).status).toBe(200);
});

it('leaves others their turn at long histories', async () => {
  const one = `${users('events')}/many`;
  const manyEvents = Array.from({ length: 9_000 }, (_, index) => event(index));
  const largeEvents = Array.from({ length: 90 }, (_, index) =>
    event(index, { content: { parts: [{ text: 'x'.repeat(100_000) }] } }),
  );
  const question = { appName: 'demo', userId: 'events', sessionId: 'many', newMessage: { parts: [{ text: 'x' }] } };
  const costs = {
    importMany: await costOf('POST', one, json({ events: manyEvents })),
    importLarge: await costOf('POST', `${users('events')}/large`, json({ events: largeEvents })),
    get: await costOf('GET', one),
    page: await costOf('GET', `${one}/events?pageSize=10000`),
    fork: await costOf('POST', `${one}/fork`, json({})),
    rewind: await costOf('POST', `${one}/rewind`, json({ invocationId: 'e-3000' })),
    run: await costOf('POST', '/run', json(question)),
    runs: await costOf('GET', `${one}/runs`),
    search: await costOf('GET', '/apps/demo/users/events/session-summaries?q=nothing+here'),
    remember: await costOf('PATCH', '/apps/demo/users/events/memory', json({ sessionId: 'many' })),
    recall: await costOf('GET', '/apps/demo/users/events/memory?q=words'),
  };

  for (const [request, { status }] of Object.entries(costs)) {
    expect([request, status]).toEqual([request, 200]);
  }

  expect(tooDear(costs)).toEqual([]);
});

it('leaves others their turn at large messages and artifacts', async () => {
  const one = `${users('u')}/s`;
  await send('POST', one, '{}');
  const text = 'x '.repeat(4_900_000);
  const picture = { inlineData: { mimeType: 'image/png', data: 'A'.repeat(9_800_000) } };
  const costs = {
    run: await costOf('POST', '/run', message([{ text }])),
    stream: await costOf('POST', '/run_sse', message([{ text }], { streaming: true })),
    picture: await costOf('POST', '/run', message([picture])),
    parts: await costOf('POST', '/run', message(Array.from({ length: 1_000 }, () => ({ text: 'x' })))),
    background: await costOf('POST', `${one}/runs`, json({ newMessage: { parts: [{ text }] } })),
    save: await costOf('POST', `${one}/artifacts`, json({ filename: 'a', artifact: picture })),
    load: await costOf('GET', `${one}/artifacts/a`),
    trace: await costOf('GET', '/debug/trace/session/s'),
    traces: await costOf('GET', '/traces'),
  };

  for (const [request, { status }] of Object.entries(costs)) {
    expect([request, status]).toEqual([request, request === 'background' ? 202 : 200]);
  }

  expect(tooDear(costs)).toEqual([]);
});

it('leaves others their turn at evaluations, lists and descriptions', async () => {
  await send('GET', '/apps/endless/app-info'); // its code imports all of this package: that is no part of the list
  for (let index = 0; index < 1_000; index += 1) await send('POST', users('crowd'), '{"state":{"a":1}}');
  const evalCases = Array.from({ length: 2_000 }, (_, index) => ({
    evalId: `c${index}`,
    conversation: [{ userContent: { parts: [{ text: 'Hi' }] }, finalResponse: { parts: [{ text: 'Hello!' }] } }],
    sessionInput: { appName: 'demo', userId: 'u', state: {} },
  }));
  const evalMetrics = [{ metricName: 'response_match_score', threshold: 0.5 }];
  const costs = {
    set: await costOf('POST', '/apps/demo/eval-sets', json({ evalSet: { evalSetId: 'large', evalCases } })),
    readSet: await costOf('GET', '/apps/demo/eval-sets/large'),
    evaluate: await costOf('POST', '/apps/demo/eval-sets/large/run', json({ evalMetrics })),
    results: await costOf('GET', '/apps/demo/eval-results'),
    apps: await costOf('GET', '/list-apps'),
    detailedApps: await costOf('GET', '/list-apps?detailed=true'),
    sessions: await costOf('GET', users('crowd')),
    summaries: await costOf('GET', '/apps/demo/users/crowd/session-summaries?q=nothing'),
    openApi: await costOf('GET', '/openapi.json'),
    docs: await costOf('GET', '/docs'),
  };

  for (const [request, { status }] of Object.entries(costs)) {
    expect([request, status]).toEqual([request, 200]);
  }

  expect(tooDear(costs)).toEqual([]);
}, 60_000);

it('leaves others their turn beside a run whose model and tools answer at once, and ends it when its client leaves', async () => {
  await send('POST', '/apps/endless/users/u/sessions/s', '{}');
  const leaving = new AbortController();
  const body = json({ appName: 'endless', userId: 'u', sessionId: 's', newMessage: { parts: [{ text: 'go' }] } });
  const request = httpRequest({
    port,
    method: 'POST',
    path: '/run',
    headers: { 'content-type': 'application/json' },
    signal: leaving.signal,
  });
  const left = once(request, 'error');
  request.end(body);
  await vi.waitFor(() => expect(counted.instantCalls).toBeGreaterThan(10), 10_000);

  const cost = await longestTurn(async () => {
    for (let index = 0; index < 20; index += 1) expect((await send('GET', '/health')).status).toBe(200);
  });
  leaving.abort();
  await left;

  expect(cost).toBeLessThan(longestTurnMs);
  await vi.waitFor(async () => {
    const before = counted.instantCalls;
    for (let count = 0; count < 10; count += 1) await nextIteration();
    expect(counted.instantCalls).toBe(before);
  }, 10_000);
}, 60_000);
