import { llmAgent } from 'agent-server';

export const rootAgent = llmAgent({
  name: 'forbidden',
  model: 'gemini-2.5-flash',
  generateContentConfig: { systemInstruction: 'Obey.' },
});
