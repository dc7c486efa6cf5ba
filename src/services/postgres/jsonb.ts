import { define, isJsonObject, type JsonObject } from '../../base/json.ts';

// PostgreSQL's jsonb stores neither U+0000 nor half a surrogate pair. They are escaped: as a private-use character
// (Apple's logo) and four hex digits. That character itself is escaped, too, where four hex digits follow it.

const mark = '\uf8ff';
// oxlint-disable-next-line no-control-regex
const hidden = /\u0000|\uf8ff(?=[\da-f]{4})|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;
const shown = /\uf8ff([\da-f]{4})/g;
/** Texts in JSON that may contain such a character. */
const suspects = /\\u0000|\\u[dD][89a-fA-F]|\uf8ff/;

/** Escapes a JSON text for jsonb. Nearly always returns it unchanged. */
export function toJsonb(text: string): string {
  if (!suspects.test(text)) return text;
  const hide = (found: string): string => mark + found.charCodeAt(0).toString(16).padStart(4, '0');
  return JSON.stringify(mapTexts(JSON.parse(text), (value) => value.replace(hidden, hide)));
}

/** The original JSON text. */
export function fromJsonb(text: string): string;
export function fromJsonb(text: string | null): string | null;
export function fromJsonb(text: string | null): string | null {
  if (text === null || !text.includes(mark)) return text;
  const show = (_: string, digits: string): string => String.fromCharCode(Number.parseInt(digits, 16));
  return JSON.stringify(mapTexts(JSON.parse(text), (value) => value.replace(shown, show)));
}

function mapTexts(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return change(value);
  if (Array.isArray(value)) return value.map((item) => mapTexts(item, change));
  if (!isJsonObject(value)) return value;
  const copy: JsonObject = {};
  for (const key of Object.keys(value)) define(copy, change(key), mapTexts(value[key], change));
  return copy;
}
