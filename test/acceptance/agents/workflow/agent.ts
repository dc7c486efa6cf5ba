import { llmAgent, sequentialAgent } from 'agent-server';

const step = (name: string) =>
  llmAgent({
    name,
    description: 'A step.',
    model: 'scripted',
    instruction: 'You do.',
    script: [{ text: `${name} done` }],
  });

/** A root that is no LLM agent. */
export const rootAgent = sequentialAgent({
  name: 'workflow_root',
  description: 'Two steps.',
  subAgents: [step('first'), step('second')],
});
