import { agentTool, functionTool, llmAgent } from 'agent-server';
import { callTool, inMemoryServices, runAgent } from 'agent-server/testing';
import { expect, it } from 'vitest';
import { z } from 'zod';

const add = functionTool({
  name: 'add',
  description: 'Adds to the total.',
  parameters: z.object({ amount: z.number() }),
  run: ({ amount }, ctx) => {
    const total = ctx.state.get('total', 0) + amount;
    ctx.state.set('total', total);
    return total;
  },
});
const adder = llmAgent({
  name: 'adder',
  model: 'scripted',
  tools: [add],
  script: [
    { after: 'add', text: 'The total is {{response.add.result}}.' },
    { match: 'add (\\d+)', calls: [{ name: 'add', args: { amount: 3 } }] },
    { match: '', text: 'Nothing to add.' },
  ],
});

it('runs an agent and gives all that came of it', async () => {
  const { text, calls, events, state, session } = await runAgent(adder, 'add 3', { state: { total: 4 } });

  expect(calls).toMatchObject([{ name: 'add', args: { amount: 3 } }]);
  expect(text).toContain('The total is');
  expect(events.map(({ author }) => author)).toEqual(['adder', 'adder', 'adder']);
  expect(state).toEqual({ total: 7 });
  expect(session.events).toHaveLength(4);
});

it('goes on with a session of services that are kept', async () => {
  const services = inMemoryServices();
  await runAgent(adder, 'add 3', { services, sessionId: 's1' });
  const { state, text } = await runAgent({ name: 'adder', rootAgent: adder }, 'hello', { services, sessionId: 's1' });

  expect(text).toBe('Nothing to add.');
  expect(state).toEqual({ total: 3 });
});

it('calls a tool with checked arguments and tells what it changed', async () => {
  const { response, actions } = await callTool(add, { amount: 2 }, { state: { total: 40 } });
  // @ts-expect-error: `amount` is a number
  const refused = await callTool(add, { amount: 'two' });

  expect(response).toEqual({ result: 42 });
  expect(actions?.stateDelta).toEqual({ total: 42 });
  expect(refused.response?.['error']).toContain('Invalid arguments for "add"');
});

it('tells of a question to the user in the place of a response', async () => {
  const careful = functionTool({ name: 'erase', description: 'Erases.', requireConfirmation: true, run: () => 'done' });
  const { events } = await callTool(careful, {});

  expect(JSON.stringify(events)).toContain('adk_request_confirmation');
});

it('calls an agent that is a tool', async () => {
  const helper = llmAgent({ name: 'helper', model: 'scripted', script: [{ match: '', text: 'Helped.' }] });

  expect((await callTool(agentTool({ agent: helper }), { request: 'help' })).response).toEqual({ result: 'Helped.' });
});
