import { define, isJsonObject, type JsonObject } from '../../base/json.ts';

/** The values for the placeholders of a script. */
export interface TemplateValues {
  /** The groups of the rule's `match`. */
  readonly groups: readonly (string | undefined)[];
  /** The newest response of a tool in this turn. */
  answerOf(tool: string): JsonObject | undefined;
}

type Piece = string | { readonly group: number } | { readonly path: readonly string[] };

const placeholder = /\$(?:(\$)|(\d)|\{([^{}]+)\})/g;

function compile(source: string): readonly Piece[] {
  const pieces: Piece[] = [];
  let from = 0;
  for (const match of source.matchAll(placeholder)) {
    if (match.index > from) pieces.push(source.slice(from, match.index));
    if (match[1]) pieces.push('$');
    else if (match[2]) pieces.push({ group: Number(match[2]) });
    else pieces.push({ path: (match[3] ?? '').split('.').map((key) => key.trim()) });
    from = match.index + match[0].length;
  }
  if (from < source.length) pieces.push(source.slice(from));
  return pieces;
}

function lookUp([tool = '', ...keys]: readonly string[], values: TemplateValues): unknown {
  let value: unknown = values.answerOf(tool);
  for (const key of keys) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
    value = (value as JsonObject)[key];
  }
  return value;
}

const valueOf = (piece: Piece, values: TemplateValues): unknown => {
  if (typeof piece === 'string') return piece;
  return 'group' in piece ? values.groups[piece.group] : lookUp(piece.path, values);
};

function asText(value: unknown): string {
  if (typeof value === 'string') return value;
  return value === undefined || value === null ? '' : JSON.stringify(value);
}

/** Text with its placeholders filled in; unknown ones become empty. */
export type TextTemplate = (values: TemplateValues) => string;

/** Compiles a text with `$1` … `$9`, `$0` (the whole match), `${tool.path}` and `$$` (a dollar). */
export function textTemplate(source: string): TextTemplate {
  const pieces = compile(source);
  if (pieces.every((piece) => typeof piece === 'string')) {
    const text = pieces.join('');
    return () => text;
  }
  return (values) => pieces.map((piece) => asText(valueOf(piece, values))).join('');
}

/** The same for any JSON value. A text with only one placeholder becomes its value, with that type. */
export function valueTemplate(source: unknown): (values: TemplateValues) => unknown {
  if (typeof source === 'string') {
    const pieces = compile(source);
    const [only] = pieces;
    if (pieces.length === 1 && only !== undefined && typeof only !== 'string') {
      return (values) => valueOf(only, values) ?? '';
    }
    return textTemplate(source);
  }
  if (Array.isArray(source)) {
    const items = source.map(valueTemplate);
    return (values) => items.map((item) => item(values));
  }
  if (!isJsonObject(source)) return () => source;
  return objectTemplate(source);
}

/** The same for an object. */
export function objectTemplate(source: JsonObject): (values: TemplateValues) => JsonObject {
  const entries = Object.entries(source).map(([key, value]) => [key, valueTemplate(value)] as const);
  return (values) => {
    const filled: JsonObject = {};
    for (const [key, fill] of entries) define(filled, key, fill(values));
    return filled;
  };
}
