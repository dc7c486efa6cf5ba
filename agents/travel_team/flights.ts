import { functionTool, llmAgent } from 'agent-server';
import { z } from 'zod';
import { priceOf } from './prices.ts';

const searchFlights = functionTool({
  name: 'search_flights',
  description: 'Finds flights to a city.',
  parameters: z.object({ city: z.string().min(1) }),
  run: ({ city }, { state }) => {
    state.set('destination', city);
    const flights = ['08:15', '12:40', '19:05'].map((departure, index) => ({
      departure,
      price: priceOf(city, 120 + index * 35),
    }));
    const [best] = flights.toSorted((a, b) => a.price - b.price);
    return { city, flights, best };
  },
});

export const flights = llmAgent({
  name: 'flights',
  description: 'Finds flights to a city.',
  model: 'gemini-3.5-flash',
  instruction:
    'You find flights with search_flights and recommend one. For hotels, transfer to the agent "hotels"; for anything else, to "travel_team".',
  tools: [searchFlights],
  script: [
    { match: 'hotel|stay|sleep', calls: [{ name: 'transfer_to_agent', args: { agent_name: 'hotels' } }] },
    { match: String.raw`(?:to|for) ([^?.!]+)`, calls: [{ name: 'search_flights', args: { city: '$1' } }] },
    {
      after: 'search_flights',
      text: 'The best flight to ${search_flights.city} leaves at ${search_flights.best.departure} and costs ${search_flights.best.price} euros. Do you need a hotel, too?',
    },
    { text: 'Where would you like to fly to?' },
  ],
});
