import type { FunctionResponse } from '../../../../src/schemas/content.ts';

const longest = 160;

const short = (value: unknown): string => {
  const text = JSON.stringify(value) ?? 'undefined';
  return text.length > longest ? `${text.slice(0, longest)}…` : text;
};

/** `from: "BER", to: "LIS"`, as much as fits a line. */
export function argsLine(args: Readonly<Record<string, unknown>> = {}): string {
  let line = '';
  for (const [name, value] of Object.entries(args)) {
    line += `${line === '' ? '' : ', '}${name}: ${short(value)}`;
    if (line.length > longest) return line;
  }
  return line;
}

/** The keys under which tools return a result of one text. */
const textKeys = ['error', 'text', 'result', 'output', 'message'];

/** The result of a tool, as much as fits a line. */
export function resultLine({ response }: FunctionResponse): string {
  for (const key of textKeys) {
    const value = response[key];
    if (typeof value === 'string' && value !== '') return value.slice(0, longest);
  }
  const entries = Object.values(response);
  return entries.length === 1 ? short(entries[0]) : short(response);
}
