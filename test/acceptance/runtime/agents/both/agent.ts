import { type App, functionTool, llmAgent, parallelAgent, sequentialAgent } from 'agent-server';

const model = 'gemini-2.5-flash';
const pay = functionTool({ name: 'pay', description: 'Pays.', requireConfirmation: true, run: () => ({ paid: true }) });
const payers = ['payer', 'second'].map((name) => llmAgent({ name, model, instruction: `[${name}]`, tools: [pay] }));

export const app: App = {
  name: 'both',
  resumability: { isResumable: true },
  rootAgent: sequentialAgent({
    name: 'line',
    subAgents: [
      parallelAgent({ name: 'sides', subAgents: payers }),
      llmAgent({ name: 'closer', model, instruction: '[closer]' }),
    ],
  }),
};
