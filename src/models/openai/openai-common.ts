import { isJsonObject, type JsonObject } from '../../base/json.ts';
import type { GenerateConfig } from '../../core/model.ts';
import { callingMode } from '../calling-mode.ts';
import { endedEarly } from '../finish-reason.ts';

/** Whether it is a reasoning model, which takes an effort instead of sampling settings. */
export function reasons(model: string): boolean {
  return /^(?:o\d|gpt-(?:[5-9]|\d\d)(?!.*chat))/.test(model);
}

type Effort = 'none' | 'minimal' | 'low' | 'medium' | 'high';

/** Gemini's `thinkingConfig` as an effort; undefined: the model decides. */
export function effortOf({ thinkingConfig }: GenerateConfig, model: string): Effort | undefined {
  if (!thinkingConfig) return undefined;
  const { thinkingLevel: level, thinkingBudget: budget } = thinkingConfig;
  const least = leastEffort(model);
  switch (String(level).toUpperCase()) {
    case 'MINIMAL':
      return least;
    case 'LOW':
      return 'low';
    case 'MEDIUM':
      return 'medium';
    case 'HIGH':
      return 'high';
    default:
  }
  if (typeof budget !== 'number' || budget < 0) return undefined;
  if (budget === 0) return least;
  if (budget <= 2_048) return 'low';
  return budget <= 8_192 ? 'medium' : 'high';
}

function leastEffort(model: string): Effort {
  const version = /^gpt-(\d+(?:\.\d+)?)/.exec(model)?.[1];
  if (version === undefined) return 'low';
  return Number(version) > 5 ? 'none' : 'minimal';
}

/** Whether the model must call functions, must not, or must call a certain one; undefined: the model decides. */
export function toolChoiceOf(config: GenerateConfig): 'none' | 'required' | { readonly name: string } | undefined {
  const { mode, names } = callingMode(config);
  if (mode === 'NONE') return 'none';
  if (mode !== 'ANY') return undefined;
  const [name] = names;
  return names.length === 1 && name !== undefined ? { name } : 'required';
}

export const NO_PARAMETERS: JsonObject = { type: 'object', properties: {} };

/** The name, schema and strictness of a JSON answer. */
export function jsonFormatOf(schema: JsonObject): { name: string; schema: JsonObject; strict: boolean } {
  const { $schema: _, ...rest } = schema;
  return { name: 'response', schema: rest, strict: isStrict(rest) };
}

const strictKeys = new Set(
  'type properties required additionalProperties items enum const anyOf $ref $defs description title pattern format minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minItems maxItems'.split(
    ' ',
  ),
);

/** Whether OpenAI's strict mode accepts the schema: objects are closed, and all properties are required. */
function isStrict(schema: unknown): boolean {
  if (!isJsonObject(schema) || !Object.keys(schema).every((key) => strictKeys.has(key))) return false;
  const properties = isJsonObject(schema['properties']) ? schema['properties'] : {};
  if (schema['type'] === 'object') {
    const required: unknown = schema['required'] ?? [];
    const names = Object.keys(properties);
    if (schema['additionalProperties'] !== false || !Array.isArray(required)) return false;
    if (!names.every((name) => required.includes(name))) return false;
  }
  const defs = isJsonObject(schema['$defs']) ? Object.values(schema['$defs']) : [];
  const variants = Array.isArray(schema['anyOf']) ? schema['anyOf'] : [];
  const items = 'items' in schema ? [schema['items']] : [];
  return [...Object.values(properties), ...defs, ...variants, ...items].every(isStrict);
}

/** The arguments of a call; undefined when they are not a JSON object. */
export function parseArguments(json: string): JsonObject | undefined {
  if (json.trim() === '') return {};
  try {
    const value: unknown = JSON.parse(json);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

export const MALFORMED = endedEarly('MALFORMED_FUNCTION_CALL', 'The arguments of a call are not JSON');
