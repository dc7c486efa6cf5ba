import { functionTool, llmAgent, sequentialAgent } from 'agent-server';

const model = 'gemini-2.5-flash';
const pay = functionTool({
  name: 'pay',
  description: 'Pays.',
  requireConfirmation: true,
  run: () => ({ paid: true }),
});

export const rootAgent = sequentialAgent({
  name: 'line',
  subAgents: [
    llmAgent({ name: 'payer', model, instruction: '[payer]', tools: [pay] }),
    llmAgent({ name: 'closer', model, instruction: '[closer]' }),
  ],
});
