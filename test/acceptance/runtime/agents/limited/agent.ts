import { type App, llmAgent } from 'agent-server';

export const app: App = {
  name: 'limited',
  rootAgent: llmAgent({ name: 'limited', model: 'gemini-2.5-flash', instruction: 'Talk.' }),
  eventsCompaction: { tokenThreshold: 50, eventRetentionSize: 2 },
};
