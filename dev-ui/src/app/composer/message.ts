import type { Content, Part } from '../../../../src/schemas/content.ts';

const isContent = (value: unknown): value is { parts: Part[] } =>
  typeof value === 'object' && value !== null && 'parts' in value && Array.isArray(value.parts);

/** The message of a text and its attachments. Text that is the JSON of a content, or of its parts, is parsed. */
export function messageFrom(text: string, attached: readonly Part[]): Content {
  return { role: 'user', parts: [...partsOf(text), ...attached] };
}

function partsOf(text: string): Part[] {
  if (text.trim() === '') return [];
  if (/^\s*[{[]/.test(text)) {
    try {
      const value: unknown = JSON.parse(text);
      if (isContent(value)) return value.parts;
      if (Array.isArray(value) && value.length > 0 && value.every(isPart)) return value;
    } catch {
      // text that only begins like JSON
    }
  }
  return [{ text }];
}

const partKeys = new Set(['text', 'inlineData', 'fileData', 'functionCall', 'functionResponse']);
const isPart = (value: unknown): value is Part =>
  typeof value === 'object' && value !== null && Object.keys(value).some((key) => partKeys.has(key));
