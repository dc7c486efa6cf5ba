import { type Content, type Part, textContent } from '../../src/schemas/content.ts';
import { type Event, newActions } from '../../src/schemas/event.ts';

let made = 0;

/** A stored event: the author's content at the next second, and whatever else it should have. */
export function stored(author: string, content: Content | string | undefined, fields: Partial<Event> = {}): Event {
  made += 1;
  const role = author === 'user' ? 'user' : 'model';
  const shown = typeof content === 'string' ? textContent(role, content) : content;
  return {
    id: `event-${made}`,
    invocationId: 'e-1',
    author,
    timestamp: made,
    ...(shown && { content: shown }),
    ...fields,
    actions: { ...newActions(), ...fields.actions },
  };
}

export const callPart = (id: string, name = 'f', args: Record<string, unknown> = {}): Part => ({
  functionCall: { id, name, args },
});
export const responsePart = (id: string, response: Record<string, unknown> = { ok: id }, name = 'f'): Part => ({
  functionResponse: { id, name, response },
});

/** An agent's event with calls. */
export const asks = (author: string, ...ids: string[]): Event =>
  stored(author, { role: 'model', parts: ids.map((id) => callPart(id)) });
/** An event with responses, by the agent whose tools answered or by the user. */
export const answers = (author: string, ...ids: string[]): Event =>
  stored(author, { role: 'user', parts: ids.map((id) => responsePart(id)) });

/** Contents in short: `role: text`, `f(id)` and `f=id`, one line each. */
export function outline(contents: readonly Content[]): string[] {
  return contents.map(({ role, parts }) => `${role}: ${parts.map(partOutline).join(' ')}`);
}

function partOutline({ text, thought, functionCall, functionResponse, ...rest }: Part): string {
  if (functionCall) return `${functionCall.name}(${functionCall.id})`;
  if (functionResponse) {
    const { name, id, response } = functionResponse;
    return response['status'] === 'pending' ? `${name}=${id}?` : `${name}=${id}`;
  }
  if (text !== undefined) return thought ? `(${text})` : text;
  return Object.keys(rest).join(',');
}
