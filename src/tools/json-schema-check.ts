import type { Ajv, ErrorObject, Options } from 'ajv';
import { AppError, errorText } from '../base/errors.ts';
import type { JsonObject } from '../base/json.ts';
import { limitedExec } from '../base/limited-regexp.ts';

/** Fills in defaults (in place) and returns the problems: `path: problem`. Empty when the value fits. */
export type JsonSchemaCheck = (value: unknown) => string[];

const compiled = new WeakMap<JsonObject, Promise<JsonSchemaCheck>>();

/**
 * Compiles a JSON Schema to a check, once per schema object. References outside the schema are not followed. Rejects
 * with ConfigurationException for an invalid schema.
 */
export function compileJsonSchema(schema: JsonObject): Promise<JsonSchemaCheck> {
  const known = compiled.get(schema);
  if (known) return known;
  const check = compile(schema);
  compiled.set(schema, check);
  return check;
}

async function compile(schema: JsonObject): Promise<JsonSchemaCheck> {
  const { $id: _, ...anonymous } = schema;
  try {
    const ajv = await newAjv(typeof schema.$schema === 'string' ? schema.$schema : '');
    const validate = ajv.compile(anonymous);
    return (value) => {
      try {
        return validate(value) ? [] : (validate.errors ?? []).map(describe);
      } catch (error) {
        if (error instanceof AppError && error.code === 'timed_out') return [`(whole value): ${error.message}`];
        throw error;
      }
    };
  } catch (error) {
    throw new AppError('ConfigurationException', `A JSON Schema cannot be used: ${errorText(error)}`, { cause: error });
  }
}

/** Loads the validator on first use, because it takes 30 ms; servers that only use zod never do. */
async function newAjv(dialect: string): Promise<Ajv> {
  const options: Options = {
    allErrors: true,
    strict: false,
    useDefaults: true,
    validateFormats: false,
    logger: false,
    code: { regExp: limitedPattern },
  };
  if (/draft-0[67]/.test(dialect)) return new (await import('ajv')).Ajv(options);
  return new (await import('ajv/dist/2020.js')).Ajv2020(options);
}

/** Bounds the time of patterns: schemas may come from other servers, and values from models. */
const limitedPattern = Object.assign(
  (source: string, flags: string) => {
    const pattern = new RegExp(source, flags);
    // The validator identifies patterns by their text.
    return { test: (text: string): boolean => limitedExec(pattern, text) !== null, toString: () => source };
  },
  { code: 'new RegExp' },
);

function describe({ instancePath, keyword, message, params }: ErrorObject): string {
  const path = instancePath.split('/').slice(1).map(unescapePointer);
  if (keyword === 'required') return `${pathText([...path, String(params.missingProperty)])}: is required`;
  if (keyword === 'additionalProperties') {
    return `${pathText([...path, String(params.additionalProperty)])}: is not a known property`;
  }
  const allowed = keyword === 'enum' ? ` ${JSON.stringify(params.allowedValues)}` : '';
  return `${pathText(path)}: ${message ?? keyword}${allowed}`;
}

const unescapePointer = (segment: string): string => segment.replaceAll('~1', '/').replaceAll('~0', '~');

/** The path in the form `list[0].name`. */
export function pathText(path: readonly PropertyKey[]): string {
  const text = path.map((key) => (/^\d+$/.test(String(key)) ? `[${String(key)}]` : `.${String(key)}`)).join('');
  return text === '' ? '(whole value)' : text.replace(/^\./, '');
}
