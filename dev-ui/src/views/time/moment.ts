import type { Event } from '../../../../src/schemas/event.ts';
import { addTokens, noTokens, tokensOf, type Tokens } from '../../log/turns.ts';

/** What the session had used up to and including the event at a position. */
export function momentOf(events: readonly Event[], position: number): Tokens {
  let sum = noTokens;
  for (const event of events.slice(0, position + 1)) {
    const tokens = tokensOf(event);
    if (tokens) sum = addTokens(sum, tokens);
  }
  return sum;
}
