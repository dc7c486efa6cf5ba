import { z } from 'zod';
import { closest, didYouMean } from '../base/closest.ts';

export const snakeCase = (key: string): string => key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
export const camelCase = (key: string): string =>
  key.replace(/_+([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());

/** The key of `object` that is `key` (in camelCase) or its snake_case form. */
export function keyInAnyCase(object: object, key: string): string | undefined {
  if (Object.hasOwn(object, key)) return key;
  return Object.keys(object).find((candidate) => camelCase(candidate) === key);
}

type AnyCaseObject<Shape extends z.ZodRawShape> = z.ZodPreprocess<z.ZodObject<Shape, z.core.$strict>>;
type AnyCaseLooseObject<Shape extends z.ZodRawShape> = z.ZodPreprocess<z.ZodObject<Shape, z.core.$loose>>;

/**
 * A hand-written object (YAML): keys in camelCase or snake_case, a key without a value counts as absent, an unknown key and
 * a key in both spellings are issues. Only the keys of `shape` are converted, so that nested maps (headers, labels …)
 * keep their keys.
 */
export function anyCaseObject<Shape extends z.ZodRawShape>(shape: Shape): AnyCaseObject<Shape> {
  return z.preprocess(keysToCamelCase(shape, false), z.strictObject(shape, { error: unknownKeys(shape) }));
}

/** The same for an object that is passed on: keeps unknown keys (in camelCase) unless they look like typing errors. */
export function anyCaseLooseObject<Shape extends z.ZodRawShape>(shape: Shape): AnyCaseLooseObject<Shape> {
  return z.preprocess(keysToCamelCase(shape, true), z.looseObject(shape));
}

function keysToCamelCase(
  shape: z.ZodRawShape,
  isOpen: boolean,
): (input: unknown, ctx: z.core.$RefinementCtx) => unknown {
  const known = new Set(Object.keys(shape));
  return (input, ctx) => {
    if (typeof input !== 'object' || input === null || Array.isArray(input)) return input;
    const copy: Record<string, unknown> = {};
    for (const [key, value] of Object.entries(input)) {
      const camel = camelCase(key);
      const name = known.has(camel) || isOpen ? camel : key;
      if (known.has(name) && (value === null || value === undefined)) continue;
      if (Object.hasOwn(copy, name)) {
        ctx.addIssue({
          code: 'custom',
          message: `"${name}" is set twice (also as "${snakeCase(name)}")`,
          path: [key],
        });
      }
      if (isOpen && !known.has(name) && closest(name, known) !== undefined) {
        ctx.addIssue({ code: 'unrecognized_keys', keys: [key], message: unknownKey(key, shape) });
        continue;
      }
      Object.defineProperty(copy, name, { value, enumerable: true, configurable: true, writable: true });
    }
    return copy;
  };
}

/** The error message for an unknown key. */
export function unknownKey(key: string, shape: object): string {
  const known = Object.keys(shape);
  return `unknown key "${key}"${didYouMean(key, /[A-Z]/.test(key) ? known : known.map(snakeCase))}`;
}

/** Unknown keys in one message: a file may have thousands. */
const maxTold = 10;

function unknownKeys(shape: z.ZodRawShape): z.core.$ZodErrorMap {
  return (issue) => {
    if (issue.code !== 'unrecognized_keys') return undefined;
    const told = issue.keys.slice(0, maxTold).map((key) => unknownKey(key, shape));
    const more = issue.keys.length - told.length;
    return [...told, ...(more > 0 ? [`and ${more} more`] : [])].join('; ');
  };
}
