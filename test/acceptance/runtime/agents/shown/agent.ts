import { llmAgent } from 'agent-server';

export const rootAgent = llmAgent({
  name: 'shown',
  model: 'gemini-2.5-flash',
  instruction: 'Translate.',
  examples: (query) => [
    {
      input: { role: 'user', parts: [{ text: `like ${query}` }] },
      output: [{ role: 'model', parts: [{ text: 'wie gezeigt' }] }],
    },
  ],
});
