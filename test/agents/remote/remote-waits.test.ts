import { writeFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, it } from 'vitest';
import { remoteAgent, type RemoteAgentSpec } from '../../../src/agents/remote/remote-agent.ts';
import { narrationStart, quoted } from '../../../src/agents/request/narration.ts';
import { sequentialAgent } from '../../../src/agents/workflow.ts';
import { textOf } from '../../../src/schemas/content.ts';
import { functionCalls, type Event } from '../../../src/schemas/event.ts';
import { A2aServer, type A2aServerOptions, type A2aTurn } from '../../support/a2a-server.ts';
import { HttpDouble } from '../../support/http-double.ts';
import { runAll, say, saying, testRunner } from '../../support/run.ts';

const open: { close(): Promise<void> }[] = [];
const folders: string[] = [];

afterEach(async () => {
  for (const server of open.splice(0)) await server.close();
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

async function serve(options: A2aServerOptions): Promise<A2aServer> {
  const server = await A2aServer.start(options);
  open.push(server);
  return server;
}

const far = (server: { url: string }, more: Partial<RemoteAgentSpec> = {}) =>
  remoteAgent({ name: 'far', agentCard: server.url, ...more });
const place = (event: Event | undefined) => event?.customMetadata as Record<string, unknown> | undefined;
const submitted = { task: { status: { state: 'TASK_STATE_SUBMITTED' } } };
const answering = (id: string, name: string, response: object) => ({
  newMessage: { role: 'user', parts: [{ functionResponse: { id, name, response } }] },
});

/** Asks for approval by a call of its own, then tells what it was answered. */
function approving(turns: A2aTurn[]): A2aServerOptions['run'] {
  return (turn) => {
    turns.push(turn);
    const [part] = turn.message.parts ?? [];
    if (turns.length > 1) {
      turn.say(submitted);
      turn.status('COMPLETED', { parts: [{ text: `answered ${JSON.stringify(part?.data)}` }] });
      return;
    }
    const metadata = { adk_type: 'function_call', adk_is_long_running: true };
    const call = { data: { id: 'c1', name: 'approve', args: { cost: 5 } }, metadata };
    turn.say(submitted);
    turn.say({ artifactUpdate: { artifact: { artifactId: 'a', parts: [call] }, lastChunk: true } });
    turn.status('INPUT_REQUIRED', { parts: [call] });
  };
}

it.each([
  { version: '1.0', streaming: true },
  { version: '1.0', streaming: false },
  { version: '0.3', streaming: true },
] as const)('waits for the answer to a call and takes it to the same task: %o', async (options) => {
  const turns: A2aTurn[] = [];
  const server = await serve({ ...options, run: approving(turns) });
  const { runner, key } = await testRunner(far(server));

  const asked = await runAll(runner, say(key, 'buy'));
  const answered = await runAll(runner, say(key, '', answering('c1', 'approve', { ok: true })));

  expect(asked.flatMap(functionCalls)).toEqual([{ id: 'c1', name: 'approve', args: { cost: 5 } }]);
  expect(asked.map(({ longRunningToolIds }) => longRunningToolIds)).toEqual([['c1'], ['c1']]);
  expect(answered.map(({ content }) => textOf(content))).toEqual([
    'answered {"id":"c1","name":"approve","response":{"ok":true}}',
  ]);
  expect(turns[1]?.taskId).toBe(turns[0]?.taskId);
  expect(turns[1]?.contextId).toBe(place(asked[0])?.['a2a:context_id']);
  expect(turns[1]?.message.parts?.[0]?.metadata).toEqual({ adk_type: 'function_response' });
});

it('makes a question in words into a request for input, and answers it in words', async () => {
  const turns: A2aTurn[] = [];
  const server = await serve({
    run: (turn) => {
      turns.push(turn);
      turn.say(submitted);
      if (turns.length > 1) return turn.status('COMPLETED', { parts: [{ text: 'thank you' }] });
      turn.status('INPUT_REQUIRED', { parts: [{ text: 'Which city?' }] });
    },
  });
  const { runner, key } = await testRunner(
    sequentialAgent({ name: 'both', subAgents: [far(server), { ...saying('then'), name: 'then' }] }),
    {
      app: { resumability: { isResumable: true } },
    },
  );

  const asked = await runAll(runner, say(key, 'weather'));
  const [call] = asked.flatMap(functionCalls);
  const rest = await runAll(runner, say(key, '', answering(call?.id ?? '', 'adk_request_input', { result: 'Oslo' })));

  expect(call).toMatchObject({ name: 'adk_request_input', args: { message: 'Which city?', interruptId: call?.id } });
  expect(asked.at(-1)?.longRunningToolIds).toEqual([call?.id]);
  expect(turns[1]?.message.parts).toEqual([{ text: 'Oslo' }]);
  expect(turns[1]?.taskId).toBe(turns[0]?.taskId);
  expect(rest.map(({ content }) => textOf(content))).toEqual(['thank you', 'then']);
});

it('tells what others said, without their thoughts, and what came since it last spoke', async () => {
  const turns: A2aTurn[] = [];
  const server = await serve({
    run: (turn) => {
      turns.push(turn);
      turn.say({ message: { messageId: 'm', role: 'ROLE_AGENT', parts: [{ text: 'ok' }] } });
    },
  });
  const first = { ...saying('I am first'), name: 'first' };
  const { runner, key } = await testRunner(sequentialAgent({ name: 'both', subAgents: [first, far(server)] }));

  await runAll(runner, say(key, 'one'));
  await runAll(runner, say(key, 'two'));

  const heard = turns.map(({ message }) => message.parts?.map(({ text }) => text));
  expect(heard[0]).toEqual(['one', narrationStart, `[first] said:\n${quoted('I am first')}`]);
  expect(heard[1]).toEqual(['two', narrationStart, `[first] said:\n${quoted('I am first')}`]);
});

it('says which task failed, in the words of the agent, and lets the run go on', async () => {
  const server = await serve({
    run: ({ say: tell, status }) => {
      tell(submitted);
      status('FAILED', { parts: [{ text: 'out of paper' }] });
    },
  });
  const { runner, key } = await testRunner(
    sequentialAgent({ name: 'both', subAgents: [far(server), { ...saying('next'), name: 'next' }] }),
  );

  const events = await runAll(runner, say(key, 'print'));

  expect(events[0]).toMatchObject({ errorCode: 'TASK_STATE_FAILED', errorMessage: 'out of paper', turnComplete: true });
  expect(textOf(events[1]?.content)).toBe('next');
});

it('tells the agent to stop when the run is cancelled', async () => {
  const server = await serve({
    run: async ({ say: tell }) => {
      tell(submitted);
      tell({
        statusUpdate: {
          status: {
            state: 'TASK_STATE_WORKING',
            message: { messageId: 'm', role: 'ROLE_AGENT', parts: [{ text: 'hm' }] },
          },
        },
      });
      await sleep(60_000, undefined, { ref: false });
    },
  });
  const agent = far(server);
  const { runner, key } = await testRunner(agent);
  const abort = new AbortController();

  const run = async (): Promise<void> => {
    for await (const _ of await runner.start(say(key, 'hi'), abort.signal)) abort.abort(new Error('enough'));
  };

  await expect(run()).rejects.toThrow('enough');
  await agent.close?.();
  expect(server.cancelled).toHaveLength(1);
});

it('gives up an agent that is silent', async () => {
  const server = await serve({
    run: async ({ say: tell }) => {
      tell(submitted);
      await sleep(60_000, undefined, { ref: false });
    },
  });
  const agent = far(server, { timeoutMs: 300 });
  const { runner, key } = await testRunner(agent);

  const [event] = await runAll(runner, say(key, 'hi'));
  await agent.close?.();

  expect(event).toMatchObject({
    errorCode: 'A2AClientError',
    errorMessage: 'Remote agent "far" was silent for 300 ms',
  });
  expect(server.cancelled).toHaveLength(1);
});

it.each([
  ['no card', { status: 404 }, /^The agent card cannot be fetched from 127\.0\.0\.1:\d+: it answered 404$/],
  ['a page', { json: '<html>' }, /is not a JSON object/],
  ['a card without an address', { json: { name: 'x' } }, /names no address/],
  [
    'a card with a strange address',
    { json: { name: 'x', supportedInterfaces: [{ url: 'file:///etc/passwd' }] } },
    /names no address/,
  ],
  ['a redirect', { status: 302, headers: { location: 'http://127.0.0.1:1/' } }, /cannot be fetched/],
])('answers with an error of its own when it finds %s, and tries again the next time', async (_, reply, message) => {
  const double = await HttpDouble.start<unknown>();
  open.push(double);
  double.answer(() => reply);
  const { runner, key } = await testRunner(far(double));

  const [event] = await runAll(runner, say(key, 'hi'));
  const seen = double.requests.length;
  await runAll(runner, say(key, 'hi'));

  expect(event).toMatchObject({ errorCode: 'AgentCardResolutionError', turnComplete: true });
  expect(event?.errorMessage).toMatch(message);
  expect(double.requests.length).toBe(2 * seen);
});

it('reads its card from a file, and names the file when it is missing', async () => {
  const server = await serve({
    run: ({ status, say: tell }) => (tell(submitted), status('COMPLETED', { parts: [{ text: 'hi' }] })),
  });
  const folder = mkdtempSync(join(tmpdir(), 'a2a-card-'));
  folders.push(folder);
  writeFileSync(join(folder, 'card.json'), JSON.stringify(server.card));
  const found = await testRunner(remoteAgent({ name: 'far', agentCard: join(folder, 'card.json') }));
  const missing = await testRunner(remoteAgent({ name: 'far', agentCard: join(folder, 'gone.json') }));

  expect((await runAll(found.runner, say(found.key, 'hi'))).map(({ content }) => textOf(content))).toEqual(['hi']);
  const [event] = await runAll(missing.runner, say(missing.key, 'hi'));
  expect(event?.errorMessage).toBe('The agent card file "gone.json" cannot be read');
});

it('looks after a task whose connection broke', async () => {
  const server: A2aServer = await serve({
    run: async ({ say: tell, status }) => {
      tell(submitted);
      status('WORKING', { parts: [{ text: 'hm' }] });
      await sleep(20);
      server.cut();
      await sleep(20);
      tell({ artifactUpdate: { artifact: { artifactId: 'a', parts: [{ text: 'done' }] }, lastChunk: true } });
      status('COMPLETED');
    },
  });
  const { runner, key } = await testRunner(far(server));

  const events = await runAll(runner, say(key, 'hi'));

  expect(events.map(({ content, errorMessage }) => errorMessage ?? content?.parts)).toEqual([
    [{ text: 'hm', thought: true }],
    [{ text: 'done' }],
  ]);
  expect(server.cancelled).toEqual([]);
});
