import { z } from 'zod';
import { didYouMean } from '../base/closest.ts';
import { lazily } from '../base/lazily.ts';

const schemas = lazily(() => {
  const failureCategory = z.enum([
    'AUTH_ERROR',
    'RATE_LIMITED',
    'NETWORK_ERROR',
    'CLIENT_ERROR',
    'SERVER_ERROR',
    'TIMEOUT_ERROR',
    'MODEL_ERROR',
    'UNKNOWN_ERROR',
  ]);
  const pattern = z.string().superRefine((source, ctx) => {
    try {
      void new RegExp(source, 'i');
    } catch (error) {
      ctx.addIssue({ code: 'custom', message: `is not a regular expression: ${(error as Error).message}` });
    }
  });
  const call = strict({
    name: z.string().min(1),
    args: z.record(z.string(), z.unknown()).optional(),
    id: z.string().optional(),
  });
  const error = strict({
    code: z.string().min(1),
    message: z.string().optional(),
    throw: z.boolean().optional(),
    category: failureCategory.optional(),
  });
  const rule = strict({
    match: pattern.optional(),
    after: z.union([z.string().min(1), z.array(z.string().min(1)).min(1)]).optional(),
    calls: z.array(call).optional(),
    thought: z.string().optional(),
    text: z.string().optional(),
    /** The text in the pieces in which it is streamed. */
    chunks: z.array(z.string()).optional(),
    /** Milliseconds before each chunk, or before the answer. */
    delayMs: z.number().min(0).max(3_600_000).optional(),
    error: error.optional(),
  }).refine(({ text, chunks }) => text === undefined || chunks === undefined, {
    message: 'either text or chunks, not both',
    path: ['chunks'],
  });
  return { call, error, rule, script: z.array(rule).meta({ id: 'Script' }) };
});
type Schemas = ReturnType<typeof schemas>;

export const scriptSchema = (): Schemas['script'] => schemas().script;

/** A function call to answer with. */
export type ScriptCall = z.infer<Schemas['call']>;
/** A failure to answer with: an error response, or (with `throw`) an exception of the model. */
export type ScriptError = z.infer<Schemas['error']>;
/**
 * When to answer (`match`: a case-insensitive regular expression on the user's newest message; `after`: the tools that
 * have just answered) and what with. Texts and arguments may hold `$1` (a group of `match`) and `${tool.path}` (a value
 * of a tool's answer).
 */
export type ScriptRule = z.infer<Schemas['rule']>;
/** The replies of a scripted model, most specific first: the first rule that fits the request answers. */
export type Script = z.infer<Schemas['script']>;

/** An object whose unknown keys are refused by name, with the key that was probably meant; `delay_ms` is `delayMs`. */
function strict<Shape extends z.ZodRawShape>(shape: Shape): z.ZodPreprocess<z.ZodObject<Shape, z.core.$strict>> {
  const known = Object.keys(shape);
  const camel = (key: string): string => key.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
  const withCamelCaseKeys = (input: unknown): unknown => {
    if (typeof input !== 'object' || input === null || Array.isArray(input)) return input;
    return Object.fromEntries(
      Object.entries(input).map(([key, value]) => [known.includes(camel(key)) ? camel(key) : key, value]),
    );
  };
  const error: z.core.$ZodErrorMap = (issue) => {
    if (issue.code !== 'unrecognized_keys') return undefined;
    return issue.keys.map((key) => unknownKey(key, known)).join('; ');
  };
  return z.preprocess(withCamelCaseKeys, z.strictObject(shape, { error }));
}

function unknownKey(key: string, known: readonly string[]): string {
  return `unknown key "${key}"${didYouMean(key, known) || `, known keys: ${known.join(', ')}`}`;
}
