import type { ModelRequest } from '../../core/model.ts';
import type { Part } from '../../schemas/content.ts';
import type { Event, UsageMetadata } from '../../schemas/event.ts';

const charactersPerToken = 4;
/** What providers count for an image; other media are counted alike for want of a better number. */
const tokensPerBlob = 258;
/** Events looked at for the last known size of an agent's prompt. */
const eventsSearched = 50;
/** What a model may answer with that was told no limit. */
export const assumedOutputTokens = 8_192;

/** Tokens of the prompt: as many as that of the agent's last call, else one for four characters. */
export function promptTokens(request: ModelRequest, events: readonly Event[], agent: string): number {
  for (let index = events.length - 1; index >= Math.max(0, events.length - eventsSearched); index -= 1) {
    const event = events[index];
    const known = event?.author === agent ? event.usageMetadata?.promptTokenCount : undefined;
    if (known !== undefined) return known;
  }
  const { systemInstruction = '', tools = [] } = request.config;
  const around = systemInstruction.length + (tools.length > 0 ? JSON.stringify(tools).length : 0);
  const contents = request.contents.flatMap(({ parts }) => parts ?? []);
  return tokensOf(contents) + Math.ceil(around / charactersPerToken);
}

/** Tokens of parts, roughly. */
export function tokensOf(parts: readonly Part[]): number {
  let characters = 0;
  let blobs = 0;
  for (const { text, inlineData, fileData, ...rest } of parts) {
    if (inlineData || fileData) blobs += 1;
    else characters += text?.length ?? JSON.stringify(rest).length;
  }
  return Math.ceil(characters / charactersPerToken) + blobs * tokensPerBlob;
}

/** All tokens of a call that the provider reports. */
export function totalTokens(usage: UsageMetadata): number {
  const { promptTokenCount = 0, toolUsePromptTokenCount = 0, candidatesTokenCount = 0, thoughtsTokenCount = 0 } = usage;
  const sum = promptTokenCount + toolUsePromptTokenCount + candidatesTokenCount + thoughtsTokenCount;
  return Math.max(usage.totalTokenCount ?? 0, sum);
}
