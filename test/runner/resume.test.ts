import { expect, it } from 'vitest';
import { indexTree } from '../../src/agents/tree.ts';
import type { Agent } from '../../src/core/runtime.ts';
import { agentToRun } from '../../src/runner/agent-to-run.ts';
import { type Event, newActions } from '../../src/schemas/event.ts';

const agent = (name: string, kind: Agent['kind'], subAgents: Agent[] = [], fields: Partial<Agent> = {}): Agent => ({
  name,
  kind,
  subAgents,
  run: async function* () {},
  ...fields,
});
const tree = indexTree(
  agent('root', 'llm', [
    agent('helper', 'llm', [agent('deep', 'llm')]),
    agent('closed', 'llm', [], { canTransferToParent: false }),
    agent('outer', 'sequential', [agent('inner', 'sequential', [agent('step', 'llm')])]),
  ]),
);
const event = (author: string, fields: Partial<Event> = {}): Event => ({
  id: author,
  invocationId: 'e-1',
  author,
  timestamp: 1,
  actions: newActions(),
  ...fields,
});
const calls = (author: string, id: string): Event =>
  event(author, { content: { role: 'model', parts: [{ functionCall: { id, name: 'f' } }] } });
const answers = (id: string): Event =>
  event('user', { content: { role: 'user', parts: [{ functionResponse: { id, name: 'f', response: {} } }] } });

it.each([
  ['the root at the start', [event('user')], 'root'],
  ['the last one that spoke', [event('user'), event('deep'), event('user')], 'deep'],
  ['the root when the last one may not be spoken to', [event('closed'), event('user')], 'root'],
  ['nobody in a sequence, but who spoke before', [event('helper'), event('step'), event('user')], 'helper'],
  ['nobody unknown', [event('helper'), event('gone'), event('user')], 'helper'],
  ['the one whose call is answered', [calls('step', 'c1'), event('helper'), answers('c1')], 'step'],
  ['the root when the answered call is unknown', [event('user'), answers('c9')], 'root'],
])('picks %s', (_, events, name) => {
  expect(agentToRun(tree, events).name).toBe(name);
});

it('goes back to the outermost sequence around an answered call in a resumable app', () => {
  expect(agentToRun(tree, [calls('step', 'c1'), answers('c1')], true).name).toBe('outer');
  expect(agentToRun(tree, [calls('helper', 'c1'), answers('c1')], true).name).toBe('helper');
});
