import { isJsonObject } from '../../base/json.ts';
import type { Parameter } from './parameters.ts';

type Pair = readonly [name: string, value: string];

const textOf = (value: unknown): string => (typeof value === 'string' ? value : (JSON.stringify(value) ?? ''));
const entriesOf = (value: object): Pair[] => Object.entries(value).map(([key, entry]) => [key, textOf(entry)]);

/** A value in a path or a header (styles simple, label and matrix of OpenAPI). `encode` is applied to each part. */
export function serializeSimple(
  { style, explode, name, isJson }: Parameter,
  value: unknown,
  encode: (text: string) => string,
): string {
  if (isJson) return encode(JSON.stringify(value));
  const [before, between] = style === 'label' ? ['.', '.'] : style === 'matrix' ? [';', ';'] : ['', ','];
  const named = style === 'matrix' ? `${encode(name)}=` : '';
  if (Array.isArray(value)) {
    const pieces = value.map((entry) => encode(textOf(entry)));
    return explode ? before + pieces.map((piece) => named + piece).join(between) : before + named + pieces.join(',');
  }
  if (isJsonObject(value)) {
    const pairs = entriesOf(value).map(([key, entry]) => [encode(key), encode(entry)] as const);
    if (explode) return before + pairs.map(([key, entry]) => `${key}=${entry}`).join(between);
    return before + named + pairs.flat().join(',');
  }
  return before + named + encode(textOf(value));
}

const delimiters: Readonly<Record<string, string | undefined>> = { spaceDelimited: ' ', pipeDelimited: '|' };

/** A value in a query, a cookie or a form: styles form, spaceDelimited, pipeDelimited and deepObject. Not encoded. */
export function serializePairs({ style, explode, name, isJson }: Parameter, value: unknown): Pair[] {
  if (isJson) return [[name, JSON.stringify(value)]];
  if (Array.isArray(value)) {
    const pieces = value.map(textOf);
    return explode ? pieces.map((piece) => [name, piece] as const) : [[name, pieces.join(delimiters[style] ?? ',')]];
  }
  if (!isJsonObject(value)) return [[name, textOf(value)]];
  if (style === 'deepObject') return deepPairs(name, value);
  if (explode && style === 'form') return entriesOf(value);
  return [
    [
      name,
      entriesOf(value)
        .flat()
        .join(delimiters[style] ?? ','),
    ],
  ];
}

function deepPairs(prefix: string, value: unknown): Pair[] {
  if (Array.isArray(value)) return value.flatMap((entry) => deepPairs(`${prefix}[]`, entry));
  if (!isJsonObject(value)) return [[prefix, textOf(value)]];
  return Object.entries(value).flatMap(([key, entry]) => deepPairs(`${prefix}[${key}]`, entry));
}
