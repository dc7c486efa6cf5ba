import { llmAgent } from 'agent-server';
import { script } from './script.ts';
import { getTime, recall, remember, rollDice, saveNotes } from './tools.ts';

export const rootAgent = llmAgent({
  name: 'assistant',
  description: 'Tells the time anywhere, rolls dice and keeps notes.',
  model: 'gemini-3.5-flash',
  script,
  instruction: [
    'You are a friendly assistant. Keep your answers short.',
    'Use the tools for the time, for dice and for notes: never guess what a tool can look up.',
    'When the user asks for several things at once, call the tools in parallel.',
  ].join('\n'),
  tools: [getTime, rollDice, remember, recall, saveNotes],
});
