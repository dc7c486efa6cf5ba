import { llmAgent } from 'agent-server';
import { flights } from './flights.ts';
import { hotels } from './hotels.ts';

export const rootAgent = llmAgent({
  name: 'travel_team',
  description: 'Plans trips: transfers to specialists for flights and hotels.',
  model: 'gemini-3.5-flash',
  instruction:
    'You plan trips. For flights, transfer to the agent "flights"; for places to stay, to "hotels"; answer the rest yourself, briefly.',
  subAgents: [flights, hotels],
  script: [
    { match: 'fl(?:y|ight)|trip to', calls: [{ name: 'transfer_to_agent', args: { agent_name: 'flights' } }] },
    { match: 'hotel|stay|sleep', calls: [{ name: 'transfer_to_agent', args: { agent_name: 'hotels' } }] },
    { text: 'Where shall we go? Try "Find a flight to Oslo", then "And a hotel, please".' },
  ],
});
