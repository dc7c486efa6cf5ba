import { z } from 'zod';

const amount = z.number().nonnegative();

/** What a million tokens of a model cost, in US dollars. */
export const Price = z.object({
  input: amount,
  output: amount,
  /** Input the provider had cached; absent: as other input. */
  cachedInput: amount.optional(),
});
export type Price = z.infer<typeof Price>;

/** Prices by the beginning of a model's name. */
export const Prices = z.record(z.string().min(1), Price);
export type Prices = z.infer<typeof Prices>;

/** The table as clients read it: the longest `match` that begins a model's name counts. */
export const PriceTable = z
  .object({
    currency: z.literal('USD'),
    per: z.literal(1_000_000),
    isEstimate: z.literal(true),
    models: z.array(Price.extend({ match: z.string() })),
  })
  .meta({ id: 'PriceTable' });
export type PriceTable = z.infer<typeof PriceTable>;
