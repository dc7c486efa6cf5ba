import { functionTool, llmAgent } from 'agent-server';
import { z } from 'zod';

const book = functionTool({
  name: 'book_flight',
  description: 'Books a flight.',
  parameters: z.object({ price: z.number() }),
  requireConfirmation: true,
  run: ({ price }) => ({ text: `booked for ${price}` }),
});

const look = functionTool({
  name: 'look_up',
  description: 'Looks something up.',
  parameters: z.object({ page: z.coerce.number() }),
  run: ({ page }, { state }) => {
    state.set('last_page', page);
    return page === 3 ? { error: 'There is no page 3' } : { text: `page ${page}` };
  },
});

/** Asks before it books, looks up several things at once, and echoes the rest. */
export const rootAgent = llmAgent({
  name: 'careful',
  description: 'Asks before it books.',
  model: 'scripted',
  instruction: 'Be careful.',
  tools: [book, look],
  script: [
    { match: 'book', calls: [{ name: 'book_flight', args: { price: 412 } }] },
    { match: 'pages', calls: [1, 2, 3, 4, 5].map((page) => ({ name: 'look_up', args: { page } })) },
    { match: 'page (\\d)', calls: [{ name: 'look_up', args: { page: '$1' } }] },
    { after: 'book_flight', text: 'Done: ${book_flight.text}${book_flight.error}' },
    { after: 'look_up', text: 'Found ${look_up.text}' },
    { text: 'Say "book" or "pages".' },
  ],
});
