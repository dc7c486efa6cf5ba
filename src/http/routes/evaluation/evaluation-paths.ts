import { z } from 'zod';
import { Name } from '../../../schemas/names.ts';
import { AppParams } from '../../requests/path-params.ts';

export const EvalSetParams = AppParams.extend({ evalSetId: Name });
export const EvalCaseParams = EvalSetParams.extend({ evalCaseId: Name });
export const EvalResultParams = AppParams.extend({ evalResultId: z.string().min(1).max(1_024) });

export const evaluationTag = 'Evaluation';

/** Both prefixes of ADK's servers: the one for development, which newer web UIs use, and the flat one. */
const prefixes = ['/apps/{appName}', '/dev/apps/{appName}'] as const;

/** Every spelling of a path below an app, the canonical one first. */
export function spellings(...tails: readonly [string, ...string[]]): [string, ...string[]] {
  const [first, ...rest] = tails.flatMap((tail) => prefixes.map((prefix) => prefix + tail));
  return [first ?? '', ...rest];
}
