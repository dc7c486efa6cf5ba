import { functionTool, llmAgent, loopAgent, parallelAgent, sequentialAgent } from 'agent-server';
import { z } from 'zod';

const lookUp = functionTool({
  name: 'look_up',
  description: 'Looks a word up.',
  parameters: z.object({ word: z.string() }),
  run: ({ word }) => ({ meaning: `what ${word} means` }),
});

const speaker = (name: string, text: string) =>
  llmAgent({ name, description: `Says ${text}`, model: 'scripted', instruction: 'You speak.', script: [{ text }] });

const pipeline = sequentialAgent({
  name: 'pipeline',
  description: 'Drafts, reviews and polishes.',
  subAgents: [
    speaker('draft', 'A draft.'),
    parallelAgent({
      name: 'review',
      description: 'Two reviews at once.',
      subAgents: [speaker('left', 'Left.'), speaker('right', 'Right.')],
    }),
    loopAgent({
      name: 'polish',
      description: 'Polishes twice.',
      maxIterations: 2,
      subAgents: [speaker('gloss', 'Gloss.')],
    }),
  ],
});

/** One agent of every kind in a tree, with a tool: for graphs, transfer and traces. */
export const rootAgent = llmAgent({
  name: 'team_lead',
  description: 'Leads the team.',
  model: 'scripted',
  instruction: 'You lead.',
  tools: [lookUp],
  subAgents: [speaker('writer', 'Written.'), pipeline],
  script: [
    { after: 'look_up', text: 'It is ${look_up.meaning}.' },
    { match: '^look up (\\w+)$', calls: [{ name: 'look_up', args: { word: '$1' } }] },
    { match: '^write$', calls: [{ name: 'transfer_to_agent', args: { agent_name: 'writer' } }] },
    { match: '^work$', calls: [{ name: 'transfer_to_agent', args: { agent_name: 'pipeline' } }] },
    { text: 'Who shall do it?' },
  ],
});
