import { functionTool } from 'agent-server';
import { z } from 'zod';

const circular: Record<string, unknown> = { name: 'ring' };
circular['self'] = circular;

/** Results that JSON cannot hold, or holds only in part. */
const oddResults: Record<string, () => unknown> = {
  undefined: () => undefined,
  null: () => null,
  number: () => 7,
  text: () => 'plain',
  list: () => [1, 'two'],
  nan: () => ({ value: Number.NaN }),
  bigint: () => ({ value: 10n }),
  circular: () => circular,
  function: () => () => 'hidden',
  symbol: () => Symbol('odd'),
  date: () => new Date(0),
  map: () => new Map([['a', 1]]),
  error: () => new Error('returned, not thrown'),
  proto: () => JSON.parse('{"__proto__":{"polluted":true},"constructor":1}') as unknown,
  surrogate: () => ({ text: 'half \uD83D pair' }),
  nul: () => ({ text: 'a\u0000b' }),
  getter: () => ({
    get value(): unknown {
      throw new Error('a getter that throws');
    },
  }),
  json: () => ({
    toJSON: () => {
      throw new Error('a toJSON that throws');
    },
  }),
};
export const oddKinds = Object.keys(oddResults);

const noArguments = z.object({});

export const badTools = [
  functionTool({
    name: 'throws',
    description: 'Fails.',
    parameters: noArguments,
    run: () => {
      throw new TypeError('the tool broke');
    },
  }),
  functionTool({
    name: 'throws_odd',
    description: 'Fails with something that is no Error.',
    parameters: noArguments,
    run: () => Promise.reject(null),
  }),
  functionTool({
    name: 'rejects_late',
    description: 'Answers, and fails in the background afterwards.',
    parameters: noArguments,
    run: () => {
      setTimeout(() => void Promise.reject(new Error('a late rejection')), 50);
      return { started: true };
    },
  }),
  functionTool({
    name: 'never',
    description: 'Never answers and does not listen.',
    parameters: noArguments,
    run: () => new Promise(() => {}),
  }),
  functionTool({
    name: 'big',
    description: 'Answers five megabytes.',
    parameters: noArguments,
    run: () => ({ text: 'b'.repeat(5_000_000) }),
  }),
  functionTool({
    name: 'spin',
    description: 'Asks to be called again.',
    parameters: noArguments,
    run: () => ({ again: true }),
  }),
  functionTool({
    name: 'odd',
    description: 'Answers something JSON has no word for.',
    parameters: z.object({ kind: z.string() }),
    run: ({ kind }) => oddResults[kind]?.(),
  }),
];
