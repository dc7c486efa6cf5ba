import { z } from 'zod';
import { AppError, errorText } from '../base/errors.ts';
import { cloneJson, type JsonObject } from '../base/json.ts';
import type { MaybePromise } from '../core/runtime.ts';
import { compileJsonSchema, type JsonSchemaCheck, pathText } from './json-schema-check.ts';
import { jsonSchemaFrom } from './schema-dialects.ts';
import type { SchemaSource, StandardResult, StandardSchema } from './schema-types.ts';

/** A valid value, with defaults filled in, or its problems: one sentence each, starting with the path. */
export type Checked<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly problems: readonly string[] };

export interface ValueSchema<T> {
  /** The JSON Schema for the model. */
  readonly json: JsonObject;
  /** Never changes the given value. Returns a promise only for asynchronous checks. */
  check(value: unknown): MaybePromise<Checked<T>>;
}

/** Problems in one response: more do not help a model. */
const maxProblems = 20;

/** Reads a schema. Throws ConfigurationException when it cannot become JSON Schema. */
export function valueSchema<T>(source: SchemaSource<T>): ValueSchema<T> {
  if (isZodType(source)) return { json: zodToJson(source), check: (value) => checkZod(source, value) };
  if (isStandard(source)) return { json: standardToJson(source), check: (value) => checkStandard(source, value) };
  if ('safeParse' in source) {
    throw new AppError('ConfigurationException', 'A schema was made by an older zod; this server reads zod 4');
  }
  const json = jsonSchemaFrom(source);
  let compiled: JsonSchemaCheck | undefined;
  const checkWith = (check: JsonSchemaCheck, value: unknown): Checked<T> => {
    compiled = check;
    const copy = cloneJson(value);
    const problems = check(copy);
    return problems.length === 0 ? { ok: true, value: copy as T } : refused(problems);
  };
  return {
    json,
    check: (value) =>
      compiled ? checkWith(compiled, value) : compileJsonSchema(json).then((check) => checkWith(check, value)),
  };
}

/** Checks a member, not the class: an agent may have its own copy of zod. */
const isZodType = <T>(source: SchemaSource<T>): source is z.ZodType<T> => '_zod' in source;

/** A zod 3 type is excluded here: `valueSchema` rejects it with its own message. */
const isStandard = <T>(source: StandardSchema<T> | JsonObject): source is StandardSchema<T> =>
  '~standard' in source && !('safeParse' in source);

function standardToJson<T>({ '~standard': { vendor, jsonSchema } }: StandardSchema<T>): JsonObject {
  if (!jsonSchema) {
    throw new AppError(
      'ConfigurationException',
      `A schema of "${vendor}" has no JSON Schema ("~standard".jsonSchema), which a model needs: use the library's wrapper for it, zod 4, or JSON Schema`,
    );
  }
  try {
    const { $schema: _, ...json } = jsonSchema.input({ target: 'draft-2020-12' });
    return json;
  } catch (error) {
    throw new AppError(
      'ConfigurationException',
      `A schema of "${vendor}" cannot become JSON Schema: ${errorText(error)}`,
      {
        cause: error,
      },
    );
  }
}

function checkStandard<T>({ '~standard': standard }: StandardSchema<T>, value: unknown): MaybePromise<Checked<T>> {
  const result = standard.validate(cloneJson(value));
  return result instanceof Promise ? result.then(checkedByStandard) : checkedByStandard(result);
}

function checkedByStandard<T>(result: StandardResult<T>): Checked<T> {
  if (!result.issues) return { ok: true, value: result.value };
  return refused(
    result.issues.map(({ path = [], message }) => {
      const keys = path.map((part) => (typeof part === 'object' ? part.key : part));
      return `${pathText(keys)}: ${message}`;
    }),
  );
}

function zodToJson(type: z.ZodType): JsonObject {
  const { $schema: _, ...json } = z.toJSONSchema(type, {
    io: 'input',
    unrepresentable: 'any',
    override: ({ jsonSchema }) => {
      // zod states the bounds of safe integers, which only costs tokens.
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
    },
  });
  return json;
}

function checkZod<T>(type: z.ZodType<T>, value: unknown): MaybePromise<Checked<T>> {
  let result: z.ZodSafeParseResult<T>;
  try {
    result = type.safeParse(value);
  } catch {
    return type.safeParseAsync(value).then(checkedBy); // it has refinements or transforms that wait
  }
  return checkedBy(result);
}

function checkedBy<T>(result: z.ZodSafeParseResult<T>): Checked<T> {
  if (result.success) return { ok: true, value: result.data };
  return refused(result.error.issues.map(({ path, message }) => `${pathText(path)}: ${message}`));
}

const refused = (problems: readonly string[]): { ok: false; problems: readonly string[] } => ({
  ok: false,
  problems: problems.slice(0, maxProblems),
});
