import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { LiveClient } from '../../support/live-client.ts';
import { ServerProcess } from '../../support/server.ts';

const secret = 'sk-abcdefghijklmnop1234';
const folder = mkdtempSync(join(tmpdir(), 'author-errors-'));
const lines = new Map<string, number>();

/** Writes an app. Notes which line of it throws. */
function app(name: string, source: string): void {
  const file = join(folder, name, 'agent.ts');
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, source);
  lines.set(name, source.split('\n').findIndex((line) => line.includes('// here')) + 1);
}
const placeOf = (name: string): string => `${name}/agent.ts:${lines.get(name)}`;

app(
  'agent',
  `interface Order { id: string; lines?: string[] }

const first = (order: Order): string => {
  if (!order.lines) throw new TypeError('no lines, ${secret}'); // here
  return order.lines[0] as string;
};

export const rootAgent = {
  name: 'agent',
  async *run() { yield* rootAgent.runLive(); },
  async *runLive() {
    await null;
    yield first({ id: 'a' });
  },
};
export const metrics = {
  broken: () => { throw new RangeError('no such score, ${secret}'); },
};
`,
);
const llm = (fields: string): string => `import { functionTool, llmAgent } from 'agent-server';

const boom = (): never => {
  throw new TypeError('out of stock, ${secret}'); // here
};
const buy = functionTool({ name: 'buy', description: 'Buys.', parameters: { type: 'object' }, run: boom });
const plugin = { name: 'audit', beforeModel: boom };
const model = { name: 'mine', async *generate() { boom(); yield {}; } };
const script = [{ after: 'buy', text: 'done' }, { calls: [{ name: 'buy' }] }];
const rootAgent = llmAgent({ name: 'root', model: 'scripted', script, ${fields} });
`;
app('callback', `${llm(`instruction: 'x', beforeModel: boom`)}export { rootAgent };\n`);
app('instruction', `${llm('instruction: boom')}export { rootAgent };\n`);
app('model', `${llm(`instruction: 'x'`).replace(`model: 'scripted', script`, 'model')}export { rootAgent };\n`);
app('tool', `${llm(`instruction: 'x', tools: [buy]`)}export { rootAgent };\n`);
app('plugin', `${llm(`instruction: 'x'`)}export const app = { rootAgent, plugins: [plugin] };\n`);
app('text', `export const rootAgent = { name: 'text', async *run() { throw 'just text, ${secret}'; } };\n`);
app('broken', `const fine = 1;\nexport const rootAgent = oops(fine); // here\n`);

let author: ServerProcess;
let other: ServerProcess;
beforeAll(async () => {
  const flags = ['--host', '0.0.0.0', '--insecure', '--surface', 'api,tools,evaluation,traces'];
  [author, other] = await Promise.all([
    ServerProcess.start({ agents: folder }),
    ServerProcess.start({ agents: folder, flags }),
  ]);
});
afterAll(async () => {
  await Promise.all([author.stop(), other.stop()]);
  rmSync(folder, { recursive: true });
});

interface Problem {
  readonly detail: string;
  readonly error: string;
  readonly errorId?: string;
  readonly where?: string;
}
interface TestEvent {
  readonly errorCode?: string;
  readonly errorMessage?: string;
  readonly customMetadata?: { readonly where?: string; readonly errorId?: string; readonly toolErrors?: object };
}

async function newSession(server: ServerProcess, appName: string): Promise<{ sessionId: string; path: string }> {
  const path = `/apps/${appName}/users/u/sessions`;
  const { body } = await server.fetchJson(path, { json: {} });
  const { id } = body as { id: string };
  return { sessionId: id, path: `${path}/${id}` };
}

const message = { role: 'user', parts: [{ text: 'Hi' }] };

async function run(server: ServerProcess, appName: string, url = '/run', fields: object = {}) {
  const { sessionId, path } = await newSession(server, appName);
  const json = { appName, userId: 'u', sessionId, newMessage: message, ...fields };
  const answer = await fetch(server.url + url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(json),
  });
  const text = await answer.text();
  const session = await server.fetchJson(path);
  const problem = (answer.status < 400 ? {} : JSON.parse(text)) as Problem;
  return { status: answer.status, text, problem, ...eventsOf(session.body) };
}

function eventsOf(session: unknown): { events: readonly TestEvent[]; last: TestEvent | undefined } {
  const { events } = session as { events: TestEvent[] };
  return { events, last: events.at(-1) };
}

/** What the log of a server says of an id. */
const logged = (server: ServerProcess, errorId: string | undefined) =>
  vi.waitFor(() => {
    const records = server.stderr.split('\n').filter((line) => line.includes(String(errorId)));
    const record = records.map((line) => JSON.parse(line) as object).find((fields) => 'err' in fields);
    expect(record).toBeDefined();
    return record;
  });

const frames = (text: string): (TestEvent & { readonly error?: string; readonly where?: string })[] =>
  text
    .split('\n')
    .filter((line) => line.startsWith('data: '))
    .map((line) => JSON.parse(line.slice(6)));

const internal = /^Internal error \(id ([\w-]+)\)$/;

describe.each([
  ['agent', 'TypeError: no lines, [redacted]'],
  ['callback', 'TypeError: out of stock, [redacted]'],
  ['instruction', 'TypeError: out of stock, [redacted]'],
  ['plugin', 'Plugin "audit" failed in beforeModel: TypeError: out of stock, [redacted]'],
  ['model', 'The model failed: TypeError: out of stock, [redacted]'],
])('what the %s throws', (name, text) => {
  it('reaches its author with its place', async () => {
    const { problem, last } = await run(author, name);
    const where = placeOf(name);
    const detail = `${text} (at ${where})`;

    expect(problem).toMatchObject({ detail, error: detail, where, errorId: expect.any(String) });
    expect(last).toMatchObject({ errorMessage: detail, customMetadata: { where, errorId: problem.errorId } });
    expect(JSON.stringify([problem, last])).not.toContain(secret);
  });

  it('is an id for others, which the log explains', async () => {
    const { problem, last } = await run(other, name);

    expect(Object.keys(problem)).toContain('errorId');
    expect(problem.detail).toMatch(/ \(id [\w-]+\)$/);
    expect(problem.error).toBe(problem.detail);
    expect(last).toMatchObject({ errorMessage: problem.detail, customMetadata: { errorId: problem.errorId } });
    expect(JSON.stringify([problem, last])).not.toMatch(/stock|lines|agent\.ts|where/);

    const record = JSON.stringify(await logged(other, problem.errorId));
    expect(record).toMatch(/out of stock|no lines/);
    expect(record).toContain(`agent.ts`);
    expect(record).not.toContain(secret);
  });
});

it('answers in one shape on loopback and elsewhere', async () => {
  const [here, there] = [(await run(author, 'agent')).problem, (await run(other, 'agent')).problem];
  const { where: _, ...rest } = here;
  expect(Object.keys(rest).toSorted()).toEqual(Object.keys(there).toSorted());
});

it.each(['/run_sse', '/run-sse'])('ends the stream of %s with what was thrown', async (url) => {
  for (const fields of [{}, { resumable: true }]) {
    const shown = frames((await run(author, 'agent', url, fields)).text);
    const detail = `TypeError: no lines, [redacted] (at ${placeOf('agent')})`;
    expect(shown.at(-1)).toMatchObject({ error: detail, errorMessage: detail, where: placeOf('agent') });
    const hidden = await run(other, 'agent', url, fields);
    expect(frames(hidden.text).at(-1)).toMatchObject({ error: expect.stringMatching(internal), errorCode: 'internal' });
    expect(hidden.text).not.toMatch(/lines|agent\.ts/);
  }
});

it('says it in the run of a background run', async () => {
  const background = async (server: ServerProcess): Promise<unknown> => {
    const { path } = await newSession(server, 'agent');
    const { body } = await server.fetchJson(`${path}/runs`, { json: { newMessage: message } });
    const waited = await server.fetchJson(`${path}/runs/${(body as { id: string }).id}/wait`);
    const read = await server.fetchJson(`${path}/runs/${(body as { id: string }).id}`);
    expect(read.body).toMatchObject({ error: (waited.body as { error: object }).error });
    return waited.body;
  };
  expect(await background(author)).toMatchObject({
    status: 'failed',
    error: { code: 'internal', message: `TypeError: no lines, [redacted] (at ${placeOf('agent')})` },
  });
  expect(await background(other)).toMatchObject({
    status: 'failed',
    error: { code: 'internal', message: expect.stringMatching(internal) },
  });
});

it('says it on a live connection, in the event and in the reason it is closed with', async () => {
  const talk = async (server: ServerProcess) => {
    const { sessionId } = await newSession(server, 'agent');
    const client = new LiveClient(
      `${server.url.replace('http', 'ws')}/run_live?app_name=agent&user_id=u&session_id=${sessionId}`,
    );
    const { code, reason } = await client.closed;
    return { code, reason, last: client.frames.at(-1) };
  };
  const detail = `TypeError: no lines, [redacted] (at ${placeOf('agent')})`;
  expect(await talk(author)).toMatchObject({ code: 1011, reason: detail, last: { errorMessage: detail } });
  const hidden = await talk(other);
  expect(hidden).toMatchObject({ code: 1011, reason: expect.stringMatching(internal) });
  expect(hidden.last?.errorMessage).toBe(hidden.reason);
});

it('tells the author of a tool that throws, and the model only what it was told before', async () => {
  const { events, status } = await run(author, 'tool');
  const answered = events.find(({ customMetadata }) => customMetadata?.toolErrors);
  expect(status).toBe(200);
  expect(Object.values(answered?.customMetadata?.toolErrors ?? {})).toEqual([
    { name: 'TypeError', message: 'out of stock, [redacted]', where: placeOf('tool') },
  ]);
  expect(answered).toMatchObject({
    content: { parts: [{ functionResponse: { response: { error: 'out of stock, [redacted]' } } }] },
  });
  const { body: traces } = await author.fetchJson('/traces?app=tool');
  const [{ traceId }] = (traces as { traces: [{ traceId: string }] }).traces;
  expect((await author.fetchJson(`/traces/${traceId}`)).text).toContain(placeOf('tool'));

  const elsewhere = await run(other, 'tool');
  expect(elsewhere.text).toContain('out of stock, [redacted]');
  expect(elsewhere.text).not.toMatch(/toolErrors|agent\.ts/);
});

it('tells what a tool threw that was run alone', async () => {
  const json = { agent: 'root', name: 'buy', args: {} };
  const thrown = { name: 'TypeError', message: 'out of stock, [redacted]', where: placeOf('tool') };
  const response = { error: 'out of stock, [redacted]' };
  expect((await author.fetchJson('/apps/tool/tools/run', { json })).body).toMatchObject({ response, thrown });
  const { body } = await other.fetchJson('/apps/tool/tools/run', { json });
  expect(body).toMatchObject({ response });
  expect(body).not.toHaveProperty('thrown');
});

it('tells it in results of evaluations, and of what metrics throw', async () => {
  const evaluate = async (server: ServerProcess, evalSetId: string): Promise<string> => {
    const evalCase = { evalId: 'one', conversation: [{ userContent: message, finalResponse: message }] };
    await server.fetchJson('/apps/agent/eval-sets', { json: { evalSet: { evalSetId, evalCases: [evalCase] } } });
    const evalMetrics = [{ metricName: 'broken', threshold: 1 }];
    const { text } = await server.fetchJson(`/apps/agent/eval-sets/${evalSetId}/run`, { json: { evalMetrics } });
    return text;
  };
  const shown = await evaluate(author, 'here');
  expect(shown).toContain(`TypeError: no lines, [redacted] (at ${placeOf('agent')})`);
  expect(shown).toMatch(/RangeError: no such score, \[redacted\] \(at agent\/agent\.ts:\d+\)/);
  const hidden = await evaluate(other, 'there');
  expect(hidden).toMatch(/Internal error \(id [\w-]+\)/);
  expect(hidden).not.toMatch(/no lines|no such score|agent\.ts/);
});

it('takes anything that is thrown', async () => {
  expect((await run(author, 'text')).problem.detail).toBe(
    'Something that is not an Error was thrown: just text, [redacted]',
  );
  expect((await run(other, 'text')).problem.detail).toMatch(internal);
});

it('names file and line of an app that cannot be loaded', async () => {
  const { body } = await author.fetchJson('/apps/broken/users/u/sessions', { json: {} });
  const { id: sessionId } = body as { id: string };
  const json = { appName: 'broken', userId: 'u', sessionId, newMessage: message };
  const { detail } = (await author.fetchJson('/run', { json })).body as Problem;
  expect(detail).toMatch(new RegExp(`^${placeOf('broken')}:\\d+: ReferenceError: oops is not defined$`));
});

it('finds the line after the file was edited', async () => {
  const source =
    'const a = 1;\nexport const rootAgent = { name: "edited", async *run() { throw new Error(`${a}`); } };\n';
  app('edited', source);
  expect((await run(author, 'edited')).problem.where).toBe('edited/agent.ts:2');
  app('edited', `// one\n// two\n${source}`);
  await vi.waitFor(async () => expect((await run(author, 'edited')).problem.where).toBe('edited/agent.ts:4'));
});

it.each([
  { headers: { host: 'localhost' } },
  { headers: { 'x-forwarded-host': 'localhost', 'x-forwarded-for': '127.0.0.1' } },
  { query: '?surface=dev&development=true' },
  { body: { surface: 'dev', showsThrown: true, runConfig: { showsThrown: true } } },
])('cannot be switched on by a client (%j)', async ({ headers, query = '', body }) => {
  const { sessionId } = await newSession(other, 'agent');
  const answer = await fetch(`${other.url}/run${query}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers } as Record<string, string>,
    body: JSON.stringify({ appName: 'agent', userId: 'u', sessionId, newMessage: message, ...body }),
  });
  const problem = (await answer.json()) as Problem;
  expect(problem.detail).not.toContain('no lines');
  expect(problem).not.toHaveProperty('where');
});
