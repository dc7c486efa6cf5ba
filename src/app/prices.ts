import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { AppError, errorText } from '../base/errors.ts';
import { Prices } from '../schemas/prices.ts';

/** From the providers' public price lists of 2026, so estimates: without batches, tiers and surcharges for long prompts. */
const known: Prices = {
  'gemini-3.6-flash': { input: 1.5, output: 7.5, cachedInput: 0.15 },
  'gemini-3.5-flash': { input: 1.5, output: 9, cachedInput: 0.15 },
  'gemini-3.5-flash-lite': { input: 0.3, output: 2.5, cachedInput: 0.03 },
  'gemini-3.1-pro': { input: 2, output: 12, cachedInput: 0.2 },
  'gemini-3.1-flash-lite': { input: 0.25, output: 1.5, cachedInput: 0.025 },
  'gemini-3-flash': { input: 0.5, output: 3, cachedInput: 0.05 },
  'gemini-3-pro': { input: 2, output: 12, cachedInput: 0.2 },
  'gemini-2.5-pro': { input: 1.25, output: 10, cachedInput: 0.125 },
  'gemini-2.5-flash': { input: 0.3, output: 2.5, cachedInput: 0.03 },
  'gemini-2.5-flash-lite': { input: 0.1, output: 0.4, cachedInput: 0.01 },
  'gemini-2.0-flash': { input: 0.1, output: 0.4, cachedInput: 0.025 },
  'gemini-2.0-flash-lite': { input: 0.075, output: 0.3 },
  'claude-opus-4': { input: 15, output: 75, cachedInput: 1.5 },
  'claude-opus-4-5': { input: 5, output: 25, cachedInput: 0.5 },
  'claude-sonnet-4': { input: 3, output: 15, cachedInput: 0.3 },
  'claude-haiku-4-5': { input: 1, output: 5, cachedInput: 0.1 },
  'claude-3-5-haiku': { input: 0.8, output: 4, cachedInput: 0.08 },
  'gpt-4o': { input: 2.5, output: 10, cachedInput: 1.25 },
  'gpt-4o-mini': { input: 0.15, output: 0.6, cachedInput: 0.075 },
  'gpt-4.1': { input: 2, output: 8, cachedInput: 0.5 },
  'gpt-4.1-mini': { input: 0.4, output: 1.6, cachedInput: 0.1 },
  'gpt-4.1-nano': { input: 0.1, output: 0.4, cachedInput: 0.025 },
  'gpt-5': { input: 1.25, output: 10, cachedInput: 0.125 },
  'gpt-5-mini': { input: 0.25, output: 2, cachedInput: 0.025 },
  'gpt-5-nano': { input: 0.05, output: 0.4, cachedInput: 0.005 },
};

/** The built-in prices, overridden by those of a YAML or JSON file. Throws ConfigurationException for an invalid file. */
export function loadPrices(file: string | undefined): Prices {
  if (file === undefined) return known;
  let given: unknown;
  try {
    given = parse(readFileSync(file, 'utf8'), { maxAliasCount: 0 });
  } catch (error) {
    throw new AppError('ConfigurationException', `The price file "${file}" cannot be read: ${errorText(error)}`, {
      cause: error,
    });
  }
  const prices = Prices.safeParse(given ?? {});
  if (prices.success) return { ...known, ...prices.data };
  const [issue] = prices.error.issues;
  const place = issue?.path.join('.') || 'the file';
  throw new AppError('ConfigurationException', `The price file "${file}" is not valid: ${place}: ${issue?.message}`);
}
