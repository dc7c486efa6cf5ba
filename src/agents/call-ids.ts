import { newUuid } from '../base/uuid.ts';
import type { Tool } from '../core/runtime.ts';
import type { Content, FunctionCall, Part } from '../schemas/content.ts';

/** Assigns ids to the calls of one model response: a call has the same id in the chunks and in the complete response. */
export class CallIds {
  /** Ids assigned in chunks, in the order of the calls. */
  readonly #given: string[] = [];

  /** The content with an id on each call; the same object when there is nothing to add. */
  complete(content: Content | undefined, partial: boolean): Content | undefined {
    if (content === undefined || !lacksIds(content.parts)) return content;
    let position = 0;
    const parts = content.parts.map((part): Part => {
      const { functionCall } = part;
      if (!functionCall || functionCall.id) return part;
      const id = partial ? this.#inFragment(functionCall) : (this.#given[position++] ?? newCallId());
      return { ...part, functionCall: { ...functionCall, id } };
    });
    return { ...content, parts };
  }

  /** Streamed arguments arrive in several chunks, and only the first names the function. */
  #inFragment({ name }: FunctionCall): string {
    const last = this.#given.at(-1);
    if (!name && last !== undefined) return last;
    const id = newCallId();
    this.#given.push(id);
    return id;
  }
}

function lacksIds(parts: readonly Part[]): boolean {
  for (const { functionCall } of parts) if (functionCall && !functionCall.id) return true;
  return false;
}

/** The ids that we assign start with `adk-`, so that adapters know not to send them to a provider. */
export const newCallId = (): string => `adk-${newUuid()}`;

/** The ids of the calls of long-running tools; `undefined` when there are none. */
export function longRunningIds(calls: readonly FunctionCall[], tools: ReadonlyMap<string, Tool>): string[] | undefined {
  const ids = calls.flatMap(({ id, name }) => (id !== undefined && tools.get(name)?.isLongRunning ? [id] : []));
  return ids.length > 0 ? ids : undefined;
}
