import type { Content, Part } from '../../schemas/content.ts';
import type { RunConfig } from '../../schemas/run.ts';

/** Whether a model is to see all calls of a turn first: Gemini 3 refuses calls that stand between responses. */
export const groupsCalls = (model: string, { groupFunctionResponsesInHistoryOverride: wish }: RunConfig): boolean =>
  wish ?? /(?:^|\/)gemini-3/.test(model);

/**
 * The same history with the responses of each turn behind all its calls, both in their order. A turn ends at the next
 * content that neither calls nor answers. Expects every call to be answered by the content that follows it.
 */
export function groupCalls(contents: Content[]): Content[] {
  const grouped: Content[] = [];
  let responses: Content[] = [];
  for (const content of contents) {
    const isResponse = has(content, 'functionResponse');
    if (isResponse) {
      responses.push(content);
      continue;
    }
    if (!has(content, 'functionCall')) {
      grouped.push(...responses);
      responses = [];
    }
    grouped.push(content);
  }
  return [...grouped, ...responses];
}

const has = ({ parts }: Content, payload: keyof Part): boolean => parts.some((part) => part[payload] !== undefined);
