import { type App, llmAgent } from 'agent-server';

export const app: App = {
  name: 'windowed',
  rootAgent: llmAgent({ name: 'windowed', model: 'gemini-2.5-flash', instruction: 'Talk.' }),
  eventsCompaction: { compactionInterval: 2, overlapSize: 1 },
};
