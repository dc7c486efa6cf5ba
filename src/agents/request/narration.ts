import type { Content, Part } from '../../schemas/content.ts';
import type { Event } from '../../schemas/event.ts';

const told = new WeakMap<Event, Content | null>();

/**
 * Another agent's event as something the user tells the model, since a model takes what has role `model` for its own
 * words. `undefined` when nothing is worth telling. Made once for stored events.
 */
export function narrate(event: Event): Content | undefined {
  const known = told.get(event);
  if (known !== undefined) return known ?? undefined;
  const parts = (event.content?.parts ?? []).flatMap((part) => tellPart(part, event.author));
  const content = parts.length === 0 ? undefined : { role: 'user', parts: [{ text: 'For context:' }, ...parts] };
  if (Object.isFrozen(event)) told.set(event, content ?? null);
  return content;
}

function tellPart(part: Part, author: string): Part[] {
  const { text, functionCall, functionResponse } = part;
  if (part.thought) return [];
  if (text !== undefined) return text.trim() === '' ? [] : [{ text: `[${author}] said: ${text}` }];
  if (functionCall) {
    const args = JSON.stringify(functionCall.args ?? {});
    return [{ text: `[${author}] called the tool "${functionCall.name}" with ${args}` }];
  }
  if (functionResponse) return [tellResponse(functionResponse.name, functionResponse.response, author)];
  return (part.inlineData ?? part.fileData ?? part.executableCode ?? part.codeExecutionResult) ? [part] : [];
}

/** A tool's answer in words. */
export const tellResponse = (tool: string, response: unknown, author: string): Part => ({
  text: `[${author}] got from the tool "${tool}": ${JSON.stringify(response)}`,
});
