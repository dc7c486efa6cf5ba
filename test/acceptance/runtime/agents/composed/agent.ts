import {
  type Agent,
  agentTool,
  runSubAgent,
  functionTool,
  llmAgent,
  loopAgent,
  newEvent,
  newActions,
  parallelAgent,
  sequentialAgent,
} from 'agent-server';
import { z } from 'zod';

const model = 'gemini-2.5-flash';

const file = functionTool({
  name: 'file',
  description: 'Files a note.',
  async run(_, ctx) {
    ctx.state.set('filed', true);
    ctx.state.set('temp:draft', 'secret');
    return { version: await ctx.saveArtifact('note.txt', { text: 'Noted.' }), seen: ctx.state.get('topic') };
  },
});
const clerk = llmAgent({ name: 'clerk', model, description: 'Files.', instruction: '[clerk]', tools: [file] });
const adder = llmAgent({
  name: 'adder',
  model,
  description: 'Adds.',
  instruction: '[adder]',
  inputSchema: z.object({ a: z.int(), b: z.int() }),
  outputSchema: z.object({ sum: z.int() }),
  outputKey: 'last_sum',
});
const teller = llmAgent({ name: 'teller', model, description: 'Tells.', instruction: '[teller]' });

const boss = llmAgent({
  name: 'boss',
  model,
  instruction: '[boss]',
  tools: [
    agentTool({ agent: clerk }),
    agentTool({ agent: adder }),
    agentTool({ agent: teller, skipSummarization: true }),
  ],
});

/** An agent written as a plain object: counts its rounds and stops the loop at the third. */
const counter: Agent = {
  name: 'counter',
  async *run(ctx) {
    const round = Number(ctx.session.state['round'] ?? 0) + 1;
    const actions = { ...newActions(), stateDelta: { round }, ...(round === 3 && { escalate: true }) };
    yield newEvent(ctx, 'counter', { content: { role: 'model', parts: [{ text: `round ${round}` }] }, actions });
    if (round === 3) yield newEvent(ctx, 'counter', { content: { role: 'model', parts: [{ text: 'tidied up' }] } });
  },
};
const after: Agent = {
  name: 'after',
  async *run(ctx) {
    yield newEvent(ctx, 'after', { content: { role: 'model', parts: [{ text: 'after' }] } });
  },
};
const rounds = loopAgent({ name: 'rounds', subAgents: [counter, after] });

const quitter: Agent = {
  name: 'quitter',
  async *run(ctx) {
    yield newEvent(ctx, 'quitter', { actions: { ...newActions(), escalate: true } });
  },
};
const waiter: Agent = {
  name: 'waiter',
  async *run(ctx) {
    await new Promise<void>((resolve) => ctx.signal.addEventListener('abort', () => resolve()));
    yield newEvent(ctx, 'waiter', { content: { role: 'model', parts: [{ text: 'too late' }] } });
  },
};
const race = parallelAgent({ name: 'race', subAgents: [waiter, quitter] });

const kinds: Record<string, Agent> = { boss, rounds, race };

/** Runs the agent the message names. */
export const rootAgent: Agent = {
  name: 'composed',
  kind: 'custom',
  subAgents: [boss, rounds, sequentialAgent({ name: 'line', subAgents: [race] })],
  async *run(ctx) {
    const name = ctx.userContent?.parts[0]?.text ?? '';
    const agent = kinds[name];
    if (!agent) throw new Error(`There is no ${name}`);
    yield* runSubAgent(agent, ctx);
  },
};
