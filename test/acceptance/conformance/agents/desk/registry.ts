import { llmAgent } from 'agent-server';

export const history = llmAgent({ name: 'history', description: 'Knows the past.', instruction: 'Tell.' });
