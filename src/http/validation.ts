import type { z } from 'zod';
import { AppError } from '../base/errors.ts';

/** One fault of a request: where, and what. */
export interface Issue {
  readonly path: string;
  readonly message: string;
}

const shownIssues = 5;

/** The value as the schema reads it. Throws `invalid_request` with the faults as its cause; `place` says where the value stood. */
export function parse(schema: z.ZodType, value: unknown, place: string): unknown {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const issues = issuesOf(result.error);
  const shown = issues.slice(0, shownIssues).map(({ path, message }) => (path ? `${path}: ${message}` : message));
  if (issues.length > shownIssues) shown.push(`and ${issues.length - shownIssues} more`);
  throw new AppError('invalid_request', `Invalid ${place}: ${shown.join('; ')}`, { cause: result.error });
}

/** The faults zod found, each with a dotted path. */
export function issuesOf(error: z.ZodError): Issue[] {
  return error.issues.map((issue) => ({ path: issue.path.map(String).join('.'), message: wordsOf(issue) }));
}

function wordsOf(issue: z.core.$ZodIssue): string {
  if (issue.code === 'invalid_type' && issue.message.endsWith('received undefined')) return 'is missing';
  return issue.message.replace(/^Invalid input: /, '');
}
