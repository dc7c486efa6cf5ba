import { llmAgent } from 'agent-server';

const helper = llmAgent({
  name: 'helper',
  description: 'Helps out.',
  globalInstruction: 'Only the root may say what holds for all.',
  staticInstruction: 'Static words about {name}.',
  instruction: 'Dynamic words about {name}.',
});

export const rootAgent = llmAgent({
  name: 'briefed',
  model: 'gemini-2.5-flash',
  globalInstruction: 'House rule for {name}.',
  instruction: async ({ session, userContent }) =>
    `{name} stays, ${String(session.state['name'])} is known, asked: ${userContent?.parts[0]?.text}`,
  subAgents: [helper],
});
