import { isAlias, isMap, isScalar, isSeq, LineCounter, type Document, type Node, parseDocument, visit } from 'yaml';
import type { AppError } from '../../base/errors.ts';
import { keyInAnyCase } from '../../schemas/key-case.ts';
import { locatedError } from '../located-error.ts';

const maxLength = 1_000_000;
const maxAliases = 100;
const maxMessage = 1_000;

/** One parsed YAML file, with the locations of its values. */
export interface YamlFile {
  /** The file's name in messages. */
  readonly name: string;
  readonly value: unknown;
  /** A message with the location of the value (or of the last part of the path that exists) and its line. */
  say(path: readonly PropertyKey[], message: string): string;
  /** The same as an error to throw. */
  fail(path: readonly PropertyKey[], message: string, options?: ErrorOptions): AppError;
}

/**
 * Reads one YAML 1.2 document as data: no custom tags, no duplicate keys, few aliases. Throws ConfigurationException
 * with the location of the fault.
 */
export function readYaml(text: string, name: string): YamlFile {
  const lines = new LineCounter();
  const say = (offset: number, message: string): string => {
    const { line, col } = lines.linePos(offset);
    const start = lines.lineStarts[line - 1] ?? 0;
    const content = (text.slice(start, start + 300).split(/\r\n?|\n/, 1)[0] ?? '').trim();
    const shown = content.length > 80 ? `${content.slice(0, 80)} …` : content;
    return `${name}:${line}:${Math.max(col, 1)}: ${onOneLine(message)}${shown === '' ? '' : ` in \`${shown}\``}`;
  };
  if (text.length > maxLength) throw locatedError(`${name}:1:1: is larger than ${maxLength} characters`);
  const document = parse(text, lines, (offset, message, cause) => locatedError(say(offset, message), { cause }));
  const value = toValue(document, (message, cause) => locatedError(say(0, message), { cause }));
  return {
    name,
    value,
    say: (path, message) => say(offsetOf(document, path), message),
    fail: (path, message, options) => locatedError(say(offsetOf(document, path), message), options),
  };
}

/** Messages quote values, which may be long, or contain line breaks that would forge a log line. */
function onOneLine(message: string): string {
  const line = message.replaceAll(/\s*[\p{Cc}\u2028\u2029]+\s*/gu, ' ');
  return line.length > maxMessage ? `${line.slice(0, maxMessage)} …` : line;
}

type Fail = (offset: number, message: string, cause?: unknown) => AppError;

function parse(text: string, lineCounter: LineCounter, fail: Fail): Document.Parsed {
  let document: Document.Parsed;
  try {
    // Duplicates are found by `duplicateKey`: the parser would compare every key with every other.
    document = parseDocument(text, {
      lineCounter,
      merge: true,
      uniqueKeys: false,
      prettyErrors: false,
      logLevel: 'error',
    });
  } catch (error) {
    // Thousands of nested brackets end in a RangeError of the parser.
    throw fail(0, 'cannot be parsed: it is nested too deeply', error);
  }
  const [problem] = [...document.errors, ...document.warnings];
  if (problem) throw fail(problem.pos[0], shortMessage(problem.message), problem);
  const double = duplicateKey(document);
  if (double !== undefined) throw fail(double, 'Map keys must be unique');
  return document;
}

/** The offset of the first duplicate key. */
function duplicateKey(document: Document.Parsed): number | undefined {
  let found: number | undefined;
  visit(document, {
    Map(_, map) {
      const seen = new Set<unknown>();
      for (const { key } of map.items) {
        if (!isScalar(key)) continue;
        if (seen.has(key.value)) {
          found = key.range?.[0] ?? 0;
          return visit.BREAK;
        }
        seen.add(key.value);
      }
      return undefined;
    },
  });
  return found;
}

function toValue(document: Document.Parsed, fail: (message: string, cause: unknown) => AppError): unknown {
  try {
    return document.toJS({ maxAliasCount: maxAliases });
  } catch (error) {
    throw fail(error instanceof RangeError ? 'is nested too deeply' : 'uses too many aliases', error);
  }
}

function shortMessage(message: string): string {
  if (message.includes('call stack')) return 'is nested too deeply';
  return (message.split('\n', 1)[0] ?? message).replace(/[.:]?\s*$/, '');
}

/** The offset of the value at a path, or of its key if the value is unusable. */
function offsetOf(document: Document.Parsed, path: readonly PropertyKey[]): number {
  let node: Node | null | undefined = document.contents;
  let offset = node?.range?.[0] ?? 0;
  for (const part of path) {
    if (isAlias(node)) node = node.resolve(document);
    const next: { node: Node | null; start: number } | undefined = step(node, part);
    if (!next) break;
    node = next.node;
    offset = next.start;
  }
  return offset;
}

function step(node: unknown, part: PropertyKey): { node: Node | null; start: number } | undefined {
  if (isSeq<Node>(node)) {
    const item = node.items[Number(part)];
    return item ? { node: item, start: item.range?.[0] ?? 0 } : undefined;
  }
  if (!isMap<Node, Node | null>(node)) return undefined;
  const keys = new Map(node.items.map((pair) => [String(isScalar(pair.key) ? pair.key.value : pair.key), pair]));
  const pair = keys.get(keyInAnyCase(Object.fromEntries(keys), String(part)) ?? '');
  return pair && { node: pair.value, start: pair.key.range?.[0] ?? 0 };
}
