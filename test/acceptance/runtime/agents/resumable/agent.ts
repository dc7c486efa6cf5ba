import { type App, functionTool, llmAgent, loopAgent, parallelAgent, sequentialAgent } from 'agent-server';

const model = 'gemini-2.5-flash';
const pay = functionTool({
  name: 'pay',
  description: 'Pays.',
  requireConfirmation: true,
  run: () => ({ paid: true }),
});
const job = functionTool({
  name: 'job',
  description: 'Works long.',
  isLongRunning: true,
  run: () => ({ begun: true }),
});

const payer = llmAgent({ name: 'payer', model, instruction: '[payer]', tools: [pay] });
const worker = llmAgent({ name: 'worker', model, instruction: '[worker]', tools: [job] });
const other = llmAgent({ name: 'other', model, instruction: '[other]' });
const closer = llmAgent({ name: 'closer', model, instruction: '[closer]' });

/** Pays, works in rounds beside another agent, and ends: each pause is one the user has to end. */
export const app: App = {
  name: 'resumable',
  resumability: { isResumable: true },
  rootAgent: sequentialAgent({
    name: 'line',
    subAgents: [
      payer,
      parallelAgent({
        name: 'sides',
        subAgents: [loopAgent({ name: 'rounds', subAgents: [worker], maxIterations: 2 }), other],
      }),
      closer,
    ],
  }),
};
