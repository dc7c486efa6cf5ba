import { symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { textOf } from '../../src/schemas/content.ts';
import { A2aServer } from '../support/a2a-server.ts';
import { runAll, say, testRunner } from '../support/run.ts';
import { agentsDir, failureOf, yamlAgent } from './agents-dir.ts';

const servers: A2aServer[] = [];

afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});

async function greeter(): Promise<A2aServer> {
  const server = await A2aServer.start({
    run: ({ say: tell }) => tell({ message: { messageId: 'm', role: 'ROLE_AGENT', parts: [{ text: 'greetings' }] } }),
  });
  servers.push(server);
  return server;
}

const remote = (card: string, more = ''): string =>
  `agent_class: RemoteA2aAgent\nname: far\nagent_card: ${card}\n${more}`;

async function wordsOf(files: Record<string, string>): Promise<string[]> {
  const { rootAgent } = await agentsDir(files).load().loadAgent('app');
  const { runner, key } = await testRunner(rootAgent);
  return (await runAll(runner, say(key, 'hi'))).map(({ content, errorMessage }) => errorMessage ?? textOf(content));
}

it('talks to the agent at an address, as a root and as a sub-agent', async () => {
  const server = await greeter();
  const sub = { 'app/far.yaml': remote(server.url) };
  const sequence = 'agent_class: SequentialAgent\nname: root\nsub_agents: [far.yaml]\n';

  expect(await wordsOf({ 'app/root_agent.yaml': remote(server.url) })).toEqual(['greetings']);
  expect(await wordsOf({ 'app/root_agent.yaml': sequence, ...sub })).toEqual(['greetings']);
  expect(await wordsOf({ 'app/root_agent.yaml': remote(`${server.url}/.well-known/agent-card.json`) })).toEqual([
    'greetings',
  ]);
});

it('talks to the agent of a card in its folder, with its headers and under the names other languages use', async () => {
  const server = await greeter();
  const text = remote('cards/far.json', 'headers: { x-key: k }\ntimeout: 2.5\n').replace(
    'RemoteA2aAgent',
    'google.adk.agents.RemoteA2AAgent',
  );

  expect(await wordsOf({ 'app/root_agent.yaml': text, 'app/cards/far.json': JSON.stringify(server.card) })).toEqual([
    'greetings',
  ]);
  expect(server.headers[0]?.['x-key']).toBe('k');
});

it('loads while the server is down, and says so when it is asked', async () => {
  const [message] = await wordsOf({ 'app/root_agent.yaml': remote('http://127.0.0.1:9') });

  expect(message).toMatch(/^The agent card cannot be fetched from 127\.0\.0\.1:9: /);
});

it.each([
  ['an absolute path', '/etc/passwd.json', 'is an absolute path'],
  ['a file address', 'file:///etc/passwd', 'is an absolute path'],
  ['a way out', '../other/card.json', 'leads out of the folder of the app'],
  ['a file that is no JSON', 'card.yaml', 'is not a JSON file'],
  ['a file that is not there', 'gone.json', 'does not exist'],
  ['broken JSON', 'broken.json', 'is not JSON'],
  ['a card without an address', 'empty.json', 'names no address'],
  ['another protocol', 'ftp://agents.example.com/card.json', 'is not an http or https address'],
  ['an address without a host', 'http:///card.json', 'is not an http or https address'],
])('refuses %s for a card, with the place', async (_, card, message) => {
  const { load } = agentsDir({
    'app/root_agent.yaml': remote(card),
    'app/broken.json': '{',
    'app/empty.json': '{}',
    'app/card.yaml': 'x: 1',
    'other/card.json': '{}',
  });

  const failure = await failureOf(load(), 'app');

  expect(failure.message).toMatch(/^app\/root_agent.yaml:3:\d+: /);
  expect(failure.message).toContain(message);
});

it('refuses a card that is a link out of the folder', async () => {
  const { path, load } = agentsDir({ 'app/root_agent.yaml': remote('card.json') });
  writeFileSync(join(path, 'secret.json'), '{}');
  symlinkSync(join(path, 'secret.json'), join(path, 'app/card.json'));

  expect((await failureOf(load(), 'app')).message).toContain('is a link that leads out of the folder of the app');
});

it('refuses tools and sub-agents, which a remote agent has over there', async () => {
  const { load } = agentsDir({
    'app/root_agent.yaml': remote('http://x', 'sub_agents: [a.yaml]\n'),
    'app/a.yaml': yamlAgent('a'),
  });

  expect((await failureOf(load({ strict: true }), 'app')).message).toContain('unknown key "sub_agents"');
});
