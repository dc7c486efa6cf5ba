import type { Tokens } from '../log/turns.ts';
import { useSettings } from './settings.ts';

type Prices = Readonly<Record<string, { readonly input: number; readonly output: number }>>;

const perTokens = 1_000_000;

/** Dollars, by the longest beginning of the model's name that has a price; undefined when a model has none. */
export function costOf(byModel: Readonly<Record<string, Tokens>>, prices: Prices): number | undefined {
  let sum = 0;
  for (const [model, { input, output }] of Object.entries(byModel)) {
    const name = Object.keys(prices)
      .filter((prefix) => prefix !== '' && model.startsWith(prefix))
      .toSorted((a, b) => b.length - a.length)[0];
    const price = name === undefined ? undefined : prices[name];
    if (!price) return undefined;
    sum += (input * price.input + output * price.output) / perTokens;
  }
  return sum;
}

const dollars = (value: number): string => `$${value < 0.01 ? value.toFixed(5) : value.toFixed(3)}`;

/** An estimate in dollars; nothing where a model has no price. */
export function Cost({ byModel }: { readonly byModel: Readonly<Record<string, Tokens>> }) {
  const prices = useSettings((state) => state.prices);
  const cost = costOf(byModel, prices);
  if (cost === undefined || Object.keys(byModel).length === 0) return null;
  return <span title="An estimate by the price table in Settings">≈ {dollars(cost)}</span>;
}
