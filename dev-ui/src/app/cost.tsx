import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { readPrices } from '../api/prices.ts';
import type { Tokens } from '../log/turns.ts';
import { useSettings } from './settings.ts';

/** Dollars for a million tokens. */
export interface Price {
  readonly input: number;
  readonly output: number;
  readonly cachedInput?: number;
}
export type Prices = Readonly<Record<string, Price>>;

const perTokens = 1_000_000;

/** Dollars, by the longest beginning of a model's name that has a price; undefined when a model has none. */
export function costOf(byModel: Readonly<Record<string, Tokens>>, prices: Prices): number | undefined {
  let sum = 0;
  for (const [model, { input, output, cached }] of Object.entries(byModel)) {
    const name = model.slice(model.lastIndexOf('/') + 1);
    const match = Object.keys(prices)
      .filter((prefix) => prefix !== '' && name.startsWith(prefix))
      .toSorted((a, b) => b.length - a.length)[0];
    const price = match === undefined ? undefined : prices[match];
    if (!price) return undefined;
    const atCachePrice = price.cachedInput === undefined ? 0 : cached;
    sum +=
      ((input - atCachePrice) * price.input + atCachePrice * (price.cachedInput ?? 0) + output * price.output) /
      perTokens;
  }
  return sum;
}

/** The server's price table with the changes in the settings; empty when the server has none. */
export function usePrices(): Prices {
  const own = useSettings((state) => state.prices);
  const table = useQuery({
    queryKey: ['prices'],
    queryFn: ({ signal }) => readPrices(signal),
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  }).data;
  return useMemo(() => {
    const scale = perTokens / (table?.per ?? perTokens);
    const entries = (table?.models ?? []).map(({ match, input, output, cachedInput }) => [
      match,
      {
        input: input * scale,
        output: output * scale,
        ...(cachedInput !== undefined && { cachedInput: cachedInput * scale }),
      },
    ]);
    return { ...(Object.fromEntries(entries) as Prices), ...own };
  }, [table, own]);
}

const dollars = (value: number): string => `$${value < 0.01 ? value.toFixed(5) : value.toFixed(3)}`;

/** An estimate in dollars; nothing where a model has no price. */
export function Cost({ byModel }: { readonly byModel: Readonly<Record<string, Tokens>> }) {
  const cost = costOf(byModel, usePrices());
  if (cost === undefined || Object.keys(byModel).length === 0) return null;
  return <span title="Estimate from the price table in Settings">≈ {dollars(cost)}</span>;
}
