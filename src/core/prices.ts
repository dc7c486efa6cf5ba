import type { UsageMetadata } from '../schemas/event.ts';
import type { Price, Prices } from '../schemas/prices.ts';

/**
 * The price of a model: that of the longest name that begins the model's name, or its part after the last `/`; else that
 * of `*`.
 */
export function priceOf(model: string, table: Prices): Price | undefined {
  return longestMatch(model, table) ?? longestMatch(model.slice(model.lastIndexOf('/') + 1), table) ?? table['*'];
}

function longestMatch(model: string, table: Prices): Price | undefined {
  let best = '';
  for (const name of Object.keys(table)) if (name.length > best.length && model.startsWith(name)) best = name;
  return best === '' ? undefined : table[best];
}

/** What a call cost, in US dollars. */
export function costOf(usage: UsageMetadata, price: Price): number {
  const { promptTokenCount = 0, toolUsePromptTokenCount = 0, cachedContentTokenCount: cached = 0 } = usage;
  const { candidatesTokenCount = 0, thoughtsTokenCount = 0 } = usage;
  const input = Math.max(0, promptTokenCount + toolUsePromptTokenCount - cached);
  const output = candidatesTokenCount + thoughtsTokenCount;
  return (input * price.input + cached * (price.cachedInput ?? price.input) + output * price.output) / 1e6;
}
