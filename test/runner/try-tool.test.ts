import { expect, it } from 'vitest';
import { llmAgent } from '../../src/agents/llm-agent.ts';
import type { ModelRegistry } from '../../src/core/model.ts';
import type { Agent, Tool } from '../../src/core/runtime.ts';
import { toolTrier } from '../../src/runner/try-tool.ts';
import { InMemoryArtifacts } from '../../src/services/artifacts/in-memory.ts';
import { InMemorySessions } from '../../src/services/sessions/in-memory.ts';
import { open } from '../support/run.ts';

const tool = (name: string, run: Tool['run'], more: Partial<Tool> = {}): Tool => ({
  kind: 'tool',
  name,
  description: name,
  declaration: { name, description: name },
  ...(run && { run }),
  ...more,
});
const note = tool('note', async (args, ctx) => {
  ctx.state.set('noted', args.text);
  await ctx.saveArtifact('note.txt', { text: 'x' });
  return { was: ctx.state.get('mood'), cost: args.cost };
});
const noModels: ModelRegistry = {
  resolve: () => {
    throw new Error('No model is needed to try a tool');
  },
  isConfigured: () => false,
};
const team = (): Agent =>
  llmAgent({
    name: 'root',
    model: 'gemini-2.5-flash',
    subAgents: [
      llmAgent({
        name: 'clerk',
        tools: [
          note,
          tool('fails', () => {
            throw new Error('no network');
          }),
          tool('asks', () => 'done', { requireConfirmation: true }),
          tool('later', () => undefined, { isLongRunning: true }),
          { kind: 'toolset', getTools: async () => [tool('inner', () => 'from the set')], close: async () => {} },
        ],
      }),
    ],
  });

function trier(rootAgent = team()) {
  const services = { sessions: new InMemorySessions(), artifacts: new InMemoryArtifacts() };
  const loader = {
    listAgents: async () => ['app'],
    loadAgent: async () => ({ name: 'app', rootAgent }),
    close: async () => {},
  };
  const run = toolTrier({ loader, services, models: noModels });
  const trying = (name: string, args = {}, state?: Record<string, unknown>) =>
    run({ appName: 'app', userId: 'u', agent: 'clerk', name, args, state }, open);
  return { trying, run, services };
}

it('runs one tool with arguments and state, and keeps nothing', async () => {
  const { trying, services } = trier();

  const { response, actions } = await trying('note', { text: 'hi', cost: '$1' }, { mood: 'blue' });

  expect(response?.response).toEqual({ was: 'blue', cost: '$1' });
  expect(actions).toMatchObject({ stateDelta: { noted: 'hi' }, artifactDelta: { 'note.txt': 0 } });
  expect(await services.sessions.listSessions({ appName: 'app', userId: 'u' })).toEqual([]);
});

it('finds tools of toolsets', async () => {
  const { trying } = trier();

  expect((await trying('inner')).response?.response).toEqual({ result: 'from the set' });
});

it('answers what the model would have read when a tool fails or is not there', async () => {
  const { trying } = trier();

  expect(JSON.stringify((await trying('fails')).response)).toContain('no network');
  expect(JSON.stringify((await trying('nothing')).response)).toContain('nothing');
});

it('shows that somebody has to agree or to answer first', async () => {
  const { trying } = trier();

  const asked = await trying('asks');
  expect(asked.events.flatMap(({ longRunningToolIds = [] }) => longRunningToolIds)).toHaveLength(1);
  expect((await trying('later')).response).toBeUndefined();
});

it('asks the callbacks that the author put around the agent and its tools', async () => {
  const paid: unknown[] = [];
  const pay = tool('pay', ({ amount }) => {
    paid.push(amount);
    if (amount === 13) throw new Error('no luck');
    return { paid: amount };
  });
  const isBanned = ({ state }: { state: { get(key: string): unknown } }): boolean => state.get('banned') === true;
  const clerk = llmAgent({
    name: 'clerk',
    tools: [pay],
    beforeAgent: ({ context }) => (isBanned(context) ? { role: 'model', parts: [{ text: 'Go away' }] } : undefined),
    beforeTool: ({ args: { amount } }) => (Number(amount) > 100 ? { refused: 'too much' } : undefined),
    afterTool: ({ result }) => ({ ...result, checked: true }),
    onToolError: () => ({ mended: true }),
  });
  const { trying } = trier(clerk);

  expect((await trying('pay', { amount: 5_000 })).response?.response).toEqual({ refused: 'too much', checked: true });
  expect((await trying('pay', { amount: 5 })).response?.response).toEqual({ paid: 5, checked: true });
  expect((await trying('pay', { amount: 13 })).response?.response).toEqual({ mended: true, checked: true });
  expect((await trying('pay', { amount: 5 }, { banned: true })).response).toBeUndefined();
  expect(paid).toEqual([5, 13]);
});

it('refuses agents that are not there or have no tools', async () => {
  const { run } = trier();
  const trial = { appName: 'app', userId: 'u', name: 'note', args: {} };

  await expect(run({ ...trial, agent: 'nobody' }, open)).rejects.toMatchObject({ code: 'not_found' });
  await expect(run({ ...trial, agent: 'root' }, open)).rejects.toMatchObject({ code: 'invalid_request' });
});
