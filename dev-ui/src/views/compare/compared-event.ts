import type { Event } from '../../../../src/schemas/event.ts';

/** An event as compared: without ids and times. */
export interface ComparedEvent {
  readonly event: Event;
  readonly author: string;
  /** Its content and actions, in lines. */
  readonly text: string;
  /** Equal for events with equal text and author. */
  readonly signature: string;
}

/** The events of a history to compare, without those that have neither content nor actions, and without internal keys. */
export function comparedEvents(events: readonly Event[], isInternal: (key: string) => boolean): ComparedEvent[] {
  return events.flatMap((event) => {
    const text = linesOf(event, isInternal).join('\n');
    return text === '' ? [] : [{ event, author: event.author, text, signature: `${event.author}\n${text}` }];
  });
}

function linesOf({ content, actions, errorCode, errorMessage }: Event, isInternal: (key: string) => boolean): string[] {
  const lines: string[] = [];
  for (const part of content?.parts ?? []) {
    if (part.functionCall) lines.push(`→ ${part.functionCall.name}(${json(part.functionCall.args ?? {})})`);
    else if (part.functionResponse)
      lines.push(`← ${part.functionResponse.name}: ${json(part.functionResponse.response)}`);
    else if (part.text !== undefined) lines.push(part.thought ? `(thought) ${part.text}` : part.text);
    else if (part.inlineData)
      lines.push(`[${part.inlineData.mimeType}, ${part.inlineData.data.length} letters of base64]`);
    else lines.push(json(part));
  }
  if (actions.transferToAgent !== undefined) lines.push(`⇒ ${actions.transferToAgent}`);
  for (const [key, value] of Object.entries(actions.stateDelta)) {
    if (!isInternal(key)) lines.push(`${key} = ${json(value)}`);
  }
  for (const [name, version] of Object.entries(actions.artifactDelta)) lines.push(`saved ${name}, version ${version}`);
  if (errorCode !== undefined || errorMessage !== undefined) lines.push(`✗ ${errorCode ?? ''} ${errorMessage ?? ''}`);
  return lines.filter((line) => line !== '');
}

const json = (value: unknown): string => JSON.stringify(value) ?? '';
