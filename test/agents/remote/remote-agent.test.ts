import { afterEach, expect, it } from 'vitest';
import { agentTool } from '../../../src/agents/agent-tool.ts';
import { llmAgent } from '../../../src/agents/llm-agent.ts';
import { remoteAgent, type RemoteAgentSpec } from '../../../src/agents/remote/remote-agent.ts';
import { parallelAgent } from '../../../src/agents/workflow.ts';
import { textOf } from '../../../src/schemas/content.ts';
import type { Event } from '../../../src/schemas/event.ts';
import { A2aServer, type A2aServerOptions, type A2aTurn } from '../../support/a2a-server.ts';
import { call as callOf, calls, replyModel, text as says } from '../../support/reply-model.ts';
import { runAll, say, testRunner } from '../../support/run.ts';
import { silentServer } from '../../support/silent-server.ts';

const servers: A2aServer[] = [];

afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});

async function serve(options: A2aServerOptions): Promise<A2aServer> {
  const server = await A2aServer.start(options);
  servers.push(server);
  return server;
}

const sse = { streaming: true };
const far = (server: A2aServer, more: Partial<RemoteAgentSpec> = {}) =>
  remoteAgent({ name: 'far', agentCard: server.url, ...more });

const artifact = (text: string, fields: object = {}) => ({
  artifactUpdate: { artifact: { artifactId: 'a', parts: [{ text }] }, ...fields },
});

/** Says "Hello" in two pieces, as a task. */
function inPieces({ say: tell, status }: A2aTurn): void {
  tell({ task: { status: { state: 'TASK_STATE_SUBMITTED' } } });
  status('WORKING');
  tell(artifact('Hel'));
  tell(artifact('lo', { append: true, lastChunk: true }));
  status('COMPLETED');
}

const brief = ({ partial, content }: Event) => [partial === true, textOf(content)];
const notes = (event: Event | undefined) => event?.customMetadata as Record<string, unknown> | undefined;

it.each(['1.0', '0.3'] as const)('streams pieces, then says the whole once, in version %s', async (version) => {
  const server = await serve({ version, run: inPieces });
  const { runner, key, services } = await testRunner(far(server));

  const events = await runAll(runner, say(key, 'hi', sse));

  expect(events.map(brief)).toEqual([
    [true, 'Hel'],
    [true, 'lo'],
    [false, 'Hello'],
  ]);
  expect(notes(events[2])).toMatchObject({
    'a2a:task_id': expect.any(String),
    'a2a:context_id': expect.any(String),
    'a2a:aggregated': true,
    'a2a:request': { parts: [{ text: 'hi' }] },
  });
  const stored = await services.sessions.getSession(key);
  expect(stored?.events.map(brief)).toEqual([
    [false, 'hi'],
    [false, 'Hello'],
  ]);
  expect(server.methods).toEqual([version === '0.3' ? 'message/stream' : 'SendStreamingMessage']);
});

it.each(['1.0', '0.3'] as const)(
  'asks a server that cannot stream for the whole answer, in version %s',
  async (version) => {
    const server = await serve({ version, streaming: false, run: inPieces });
    const { runner, key } = await testRunner(far(server));

    const events = await runAll(runner, say(key, 'hi', sse));

    expect(events.map(brief)).toEqual([[false, 'Hello']]);
    expect(server.methods).toEqual([version === '0.3' ? 'message/send' : 'SendMessage']);
  },
);

it('leaves pieces out of a run that does not stream', async () => {
  const server = await serve({ run: inPieces });
  const { runner, key } = await testRunner(far(server));

  expect((await runAll(runner, say(key, 'hi'))).map(brief)).toEqual([[false, 'Hello']]);
});

it('takes a single message for an answer, and keeps its context for the next turn', async () => {
  const asked: A2aTurn[] = [];
  const server = await serve({
    run: (turn) => {
      asked.push(turn);
      turn.say({ message: { messageId: 'm', role: 'ROLE_AGENT', parts: [{ text: `${asked.length}` }] } });
    },
  });
  const { runner, key } = await testRunner(far(server));

  const first = await runAll(runner, say(key, 'one'));
  const second = await runAll(runner, say(key, 'two'));

  expect([...first, ...second].map(brief)).toEqual([
    [false, '1'],
    [false, '2'],
  ]);
  expect(asked[1]?.contextId).toBe(asked[0]?.contextId);
  expect(asked[1]?.message.parts).toEqual([{ text: 'two' }]);
});

it('shows what the agent thinks while it works, and what it calls', async () => {
  const server = await serve({
    run: ({ say: tell, status }) => {
      tell({ task: { status: { state: 'TASK_STATE_SUBMITTED' } } });
      status('WORKING', { parts: [{ text: 'let me see' }] });
      const call = { id: 'c1', name: 'roll', args: { sides: 6 } };
      tell({
        artifactUpdate: {
          artifact: { artifactId: 'call', parts: [{ data: call, metadata: { adk_type: 'function_call' } }] },
          lastChunk: true,
          metadata: { adk_usage_metadata: { totalTokenCount: 7 }, adk_escalate: true },
        },
      });
      status('COMPLETED');
    },
  });
  const { runner, key } = await testRunner(far(server));

  const events = await runAll(runner, say(key, 'hi'));

  expect(events.map(({ content }) => content?.parts)).toEqual([
    [{ text: 'let me see', thought: true }],
    [{ functionCall: { id: 'c1', name: 'roll', args: { sides: 6 } } }],
  ]);
  expect(events[1]).toMatchObject({ usageMetadata: { totalTokenCount: 7 }, actions: { escalate: true } });
  expect(events[1]?.longRunningToolIds).toBeUndefined();
});

it('sends its headers to the server that was named, and to no other one', async () => {
  const seen = await serve({ run: inPieces });
  const sender = await testRunner(far(seen, { headers: async () => ({ authorization: 'Bearer t' }) }));
  await runAll(sender.runner, say(sender.key, 'hi'));
  const elsewhere = [{ url: `${seen.url}/rpc`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }];
  const liar = await serve({ run: inPieces, card: { supportedInterfaces: elsewhere } });
  const cheated = await testRunner(far(liar, { headers: { authorization: 'Bearer t' } }));

  const [event] = await runAll(cheated.runner, say(cheated.key, 'hi'));

  expect(seen.headers.map(({ authorization }) => authorization)).toEqual(['Bearer t', 'Bearer t']);
  expect(event).toMatchObject({ errorCode: 'AgentCardResolutionError', turnComplete: true });
  expect(event?.errorMessage).toContain('requests may only go to the configured server');
});

it.each(['1.0', '0.3'] as const)(
  'follows no card to another server, with no headers either, in version %s',
  async (version) => {
    const target = await silentServer();
    const places = [{ url: `${target.url}/internal/rpc`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }];
    const card = version === '0.3' ? { url: `${target.url}/internal/rpc` } : { supportedInterfaces: places };
    const liar = await serve({ version, run: inPieces, card });
    const { runner, key } = await testRunner(far(liar));

    const [event] = await runAll(runner, say(key, 'hi'));

    expect(event).toMatchObject({ errorCode: 'AgentCardResolutionError', turnComplete: true });
    expect(target.connections).toBe(0);
  },
);

it('goes where a card leads that the author gives', async () => {
  const server = await serve({ run: inPieces });
  const { runner, key } = await testRunner(remoteAgent({ name: 'far', agentCard: { ...server.card } }));

  expect((await runAll(runner, say(key, 'hi'))).map(brief)).toEqual([[false, 'Hello']]);
});

it('describes itself by its card once that is known', async () => {
  const server = await serve({ run: inPieces });
  const agent = far(server);
  const { runner, key } = await testRunner(agent);

  expect(agent.description).toBe('');
  await runAll(runner, say(key, 'hi'));

  expect(agent.description).toBe('An agent far away');
  expect(remoteAgent({ name: 'b', agentCard: { ...server.card } }).description).toBe('An agent far away');
});

it('answers as a tool of another agent', async () => {
  const server = await serve({ run: inPieces });
  const model = replyModel(calls(callOf('far', { request: 'say hello' })), says('done'));
  const { runner, key } = await testRunner(
    llmAgent({ name: 'boss', model, tools: [agentTool({ agent: far(server) })] }),
  );

  await runAll(runner, say(key, 'go'));

  expect(model.requests[1]?.contents.at(-1)?.parts[0]?.functionResponse?.response).toEqual({ result: 'Hello' });
});

it('hears nothing of what agents beside it say', async () => {
  const heard: unknown[] = [];
  const server = await serve({
    run: ({ message, say: tell }) => {
      heard.push(message.parts);
      tell({ message: { messageId: 'm', role: 'ROLE_AGENT', parts: [{ text: 'ok' }] } });
    },
  });
  const both = [far(server), { ...far(server), name: 'near' }];
  const { runner, key } = await testRunner(parallelAgent({ name: 'all', subAgents: both }));

  const events = await runAll(runner, say(key, 'hi'));
  await runAll(runner, say(key, 'again'));

  expect(events.map(({ author, branch }) => `${author} ${branch}`).toSorted()).toEqual([
    'far all.far',
    'near all.near',
  ]);
  expect(heard).toEqual([[{ text: 'hi' }], [{ text: 'hi' }], [{ text: 'again' }], [{ text: 'again' }]]);
});
