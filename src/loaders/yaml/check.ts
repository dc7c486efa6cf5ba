import type { z } from 'zod';
import { isJsonObject } from '../../base/json.ts';
import { snakeCase, keyInAnyCase } from '../../schemas/key-case.ts';
import { locatedError } from '../located-error.ts';
import type { YamlFile } from './document.ts';

/** Faults in one message. */
const maxShown = 10;

export interface CheckOptions {
  /** The path of the value in the file. */
  readonly at?: readonly PropertyKey[];
  /** Called for unknown keys, which are then ignored; absent: they are errors. */
  readonly warn?: ((message: string) => void) | undefined;
}

type Issue = z.core.$ZodIssue;

/** The value as parsed by the schema. Throws ConfigurationException with the location of each fault. */
export function check<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  file: YamlFile,
  { at = [], warn }: CheckOptions = {},
): z.output<Schema> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const { issues } = result.error;
  const unknown = issues.filter((issue) => issue.code === 'unrecognized_keys');
  if (warn && unknown.length === issues.length) {
    let rest = value;
    for (const issue of unknown) {
      warn(describe(issue, value, file, at));
      rest = without(rest, issue.path, new Set(issue.keys));
    }
    return check(schema, rest, file, { at });
  }
  // An unknown key may be a misspelled missing key.
  const faults = [...issues.filter((issue) => issue.code !== 'unrecognized_keys'), ...unknown];
  const shown = faults.slice(0, maxShown).map((issue) => describe(issue, value, file, at));
  const more = faults.length > maxShown ? [`and ${faults.length - maxShown} more`] : [];
  throw locatedError([...shown, ...more].join('\n'), { cause: result.error });
}

function describe(issue: Issue, value: unknown, file: YamlFile, at: readonly PropertyKey[]): string {
  if (issue.code === 'unrecognized_keys') {
    return file.say([...at, ...issue.path, issue.keys[0] ?? ''], issue.message);
  }
  if (issue.code === 'invalid_union') {
    const inner = issue.errors.find((errors) => errors.length > 0)?.[0];
    if (inner) return describe({ ...inner, path: [...issue.path, ...inner.path] }, value, file, at);
  }
  const found = valueAt(value, issue.path);
  const label = labelOf([...at, ...issue.path], file.value);
  return file.say([...at, ...issue.path], `${label}${fault(issue, found)}`);
}

function fault(issue: Issue, found: unknown): string {
  const isMissing = found === undefined || found === null;
  const { code } = issue;
  if (isMissing && (code === 'invalid_type' || code === 'invalid_value')) return 'is missing';
  if (code === 'invalid_type' && issue.expected !== 'never') {
    return `must be ${names[issue.expected] ?? issue.expected}, not ${kindOf(found)}`;
  }
  if (code === 'invalid_value') {
    return `must be ${issue.values.map((word) => JSON.stringify(word)).join(' or ')}, not ${JSON.stringify(found)}`;
  }
  if (code === 'too_small') {
    if (issue.origin === 'string') return 'is empty';
    return issue.inclusive === false ? `must be more than ${issue.minimum}` : `must be ${issue.minimum} or more`;
  }
  return issue.message;
}

const names: Partial<Record<string, string>> = {
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'a mapping',
  record: 'a mapping',
};

function kindOf(value: unknown): string {
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'a mapping';
  if (typeof value === 'string') return value.length > 40 ? 'a text' : `the text ${JSON.stringify(value)}`;
  return `the ${typeof value} ${typeof value === 'number' ? value : (JSON.stringify(value) ?? '')}`;
}

/** The path in the file's spelling: `"tools[0].args.agent" `. */
function labelOf(path: readonly PropertyKey[], root: unknown): string {
  let label = '';
  let value = root;
  for (const part of path) {
    if (typeof part === 'number') {
      label += `[${part}]`;
    } else {
      const key = isJsonObject(value) ? keyInAnyCase(value, String(part)) : undefined;
      label += `${label === '' ? '' : '.'}${key ?? snakeCase(String(part))}`;
    }
    value = valueAt(value, [part]);
  }
  return label === '' ? '' : `"${label}" `;
}

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  let found = value;
  for (const part of path) {
    if (Array.isArray(found)) found = found[Number(part)];
    else if (isJsonObject(found)) found = found[keyInAnyCase(found, String(part)) ?? ''];
    else return undefined;
  }
  return found;
}

/** A copy of the value, without `keys` in the object at the path. */
function without(value: unknown, [part, ...rest]: readonly PropertyKey[], keys: ReadonlySet<string>): unknown {
  if (Array.isArray(value)) {
    return value.map((item: unknown, index) => (index === Number(part) ? without(item, rest, keys) : item));
  }
  if (!isJsonObject(value)) return value;
  if (part === undefined) return Object.fromEntries(Object.entries(value).filter(([name]) => !keys.has(name)));
  const key = keyInAnyCase(value, String(part)) ?? String(part);
  const entries = Object.entries(value).map(([name, item]): [string, unknown] => [
    name,
    name === key ? without(item, rest, keys) : item,
  ]);
  return Object.fromEntries(entries);
}
