import type { z } from 'zod';
import { AppError } from '../base/errors.ts';

/** One error in a request: its path and message. */
export interface Issue {
  readonly path: string;
  readonly message: string;
}

const shownIssues = 5;
const listedIssues = 100;

/** Parses a value with a schema. Throws `invalid_request` with the issues as its cause; `place` names the value in the message. */
export function parse(schema: z.ZodType, value: unknown, place: string): unknown {
  const result = safeParse(schema, value, place);
  if (result.success) return result.data;
  const issues = issuesOf(result.error);
  const shown = issues.slice(0, shownIssues).map(({ path, message }) => (path ? `${path}: ${message}` : message));
  const { length } = result.error.issues;
  if (length > shownIssues) shown.push(`and ${length - shownIssues} more`);
  throw new AppError('invalid_request', `Invalid ${place}: ${shown.join('; ')}`, { cause: result.error });
}

/** zod spreads issues as call arguments, which overflows the stack if a hostile list has a hundred thousand issues. */
function safeParse(schema: z.ZodType, value: unknown, place: string): z.ZodSafeParseResult<unknown> {
  try {
    return schema.safeParse(value);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new AppError('invalid_request', `The ${place} has too many faults to list`);
  }
}

/** The first issues of zod, each with a dotted path. */
export function issuesOf(error: z.ZodError): Issue[] {
  return error.issues
    .slice(0, listedIssues)
    .map((issue) => ({ path: issue.path.map(String).join('.'), message: wordsOf(issue) }));
}

function wordsOf(issue: z.core.$ZodIssue): string {
  if (issue.code === 'invalid_type' && issue.message.endsWith('received undefined')) return 'is missing';
  return issue.message.replace(/^Invalid input: /, '');
}
