import { errorText } from '../base/errors.ts';
import type { ModelRequest } from '../core/model.ts';
import type { Plugin } from '../core/runtime.ts';
import type { Content } from '../schemas/content.ts';
import type { EventLog } from './logging.ts';

export interface ContextFilterOptions {
  /** Turns that a model call still sees. A turn is one or more user messages in a row and everything said in reply. */
  readonly invocationsToKeep?: number;
  /** Applied to the remaining contents. */
  readonly filter?: (contents: readonly Content[]) => readonly Content[];
  readonly log?: EventLog;
}

/**
 * Shortens model requests to the latest turns. A function response never loses its function call. A filter that fails
 * is logged, and the request is sent unchanged.
 */
export function contextFilterPlugin({ invocationsToKeep, filter, log }: ContextFilterOptions): Plugin {
  return {
    name: 'context_filter_plugin',
    beforeModel({ request, context }) {
      try {
        const kept = invocationsToKeep === undefined ? request.contents : latestTurns(request, invocationsToKeep);
        request.contents = [...(filter ? filter(kept) : kept)];
      } catch (error) {
        log?.warn({ agent: context.agentName, error: errorText(error) }, 'context filter failed');
      }
    },
  };
}

function latestTurns({ contents }: ModelRequest, count: number): Content[] {
  const starts = contents.flatMap((content, index) =>
    isUserTurn(content) && !(index > 0 && isUserTurn(contents[index - 1])) ? [index] : [],
  );
  const start = starts.at(-Math.max(1, count)) ?? 0;
  return contents.slice(start);
}

/** A function response has the role `user`, too, but it continues a turn. */
function isUserTurn(content: Content | undefined): boolean {
  return content?.role === 'user' && !content.parts.some((part) => part.functionResponse);
}
