import { functionTool, llmAgent } from 'agent-server';

export const rootAgent = llmAgent({
  name: 'stepper',
  model: 'gemini-2.5-flash',
  maxSteps: 2,
  tools: [functionTool({ name: 'again', description: 'Goes on.', run: () => 'more to do' })],
});
