import { getJson } from './server.ts';

/** The price of `per` tokens by model: the longest `match` that a model's name begins with applies. */
export interface PriceTable {
  readonly currency: string;
  readonly per: number;
  readonly models: readonly {
    readonly match: string;
    readonly input: number;
    readonly output: number;
    readonly cachedInput?: number;
  }[];
}

export const readPrices = (signal?: AbortSignal): Promise<PriceTable> => getJson('prices', signal);
