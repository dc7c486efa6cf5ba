import type { Content } from '../../schemas/content.ts';
import { type Event, functionCalls } from '../../schemas/event.ts';

/** Adds the missing call ids to the function responses of a message: each answers the latest call of its name. */
export function withCallIds(content: Content, events: readonly Event[]): Content {
  const calls = events.flatMap(functionCalls);
  const parts = content.parts.map((part) => {
    const { functionResponse } = part;
    const id = functionResponse && calls.findLast(({ name }) => name === functionResponse.name)?.id;
    return id === undefined || !functionResponse ? part : { ...part, functionResponse: { ...functionResponse, id } };
  });
  return { ...content, parts };
}
