import { functionTool, llmAgent } from 'agent-server';
import { z } from 'zod';
import { priceOf } from './prices.ts';

const searchHotels = functionTool({
  name: 'search_hotels',
  description: 'Finds hotels in a city (default: the destination of the last flight search).',
  parameters: z.object({ city: z.string().optional() }),
  run: ({ city }, { state }) => {
    const place = city ?? state.get<string>('destination');
    if (place === undefined) return { error: 'Which city?' };
    const hotels = ['Station Inn', 'Garden House', 'Grand Hotel'].map((name, index) => ({
      name: `${name} ${place}`,
      price: priceOf(place, 60 + index * 45),
    }));
    return { city: place, hotels, best: hotels[0] };
  },
});

export const hotels = llmAgent({
  name: 'hotels',
  description: 'Finds a place to stay.',
  model: 'gemini-3.5-flash',
  instruction:
    'You find hotels with search_hotels and recommend one. For flights, transfer to the agent "flights"; for anything else, to "travel_team".',
  tools: [searchHotels],
  script: [
    { match: 'fl(?:y|ight)', calls: [{ name: 'transfer_to_agent', args: { agent_name: 'flights' } }] },
    { match: String.raw`hotels? (?:in|for) ([^?.!]+)`, calls: [{ name: 'search_hotels', args: { city: '$1' } }] },
    { match: 'hotel|stay|sleep|yes|please', calls: [{ name: 'search_hotels' }] },
    {
      after: 'search_hotels',
      text: 'I would stay at the ${search_hotels.best.name} for ${search_hotels.best.price} euros a night. ${search_hotels.error}',
    },
    { text: 'In which city do you need a hotel?' },
  ],
});
