import type { UsageMetadata } from '../schemas/event.ts';
import type { Price, Prices } from '../schemas/prices.ts';

/** The price of a model: the longest name that begins the model's, else the one named `*`. */
export function priceOf(model: string, table: Prices): Price | undefined {
  const names = Object.keys(table).filter((name) => model.startsWith(name));
  const best = names.toSorted((a, b) => b.length - a.length)[0] ?? '*';
  return table[best];
}

/** What a call cost, in US dollars. */
export function costOf(usage: UsageMetadata, price: Price): number {
  const { promptTokenCount = 0, toolUsePromptTokenCount = 0, cachedContentTokenCount: cached = 0 } = usage;
  const { candidatesTokenCount = 0, thoughtsTokenCount = 0 } = usage;
  const input = Math.max(0, promptTokenCount + toolUsePromptTokenCount - cached);
  const output = candidatesTokenCount + thoughtsTokenCount;
  return (input * price.input + cached * (price.cachedInput ?? price.input) + output * price.output) / 1e6;
}
