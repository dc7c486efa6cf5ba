import type { JsonObject } from '../../base/json.ts';
import type { ModelRequest, ModelResponse } from '../../core/model.ts';
import { type Content, textOf } from '../../schemas/content.ts';

/** The newest contents, from which the length of a history is estimated. */
const SAMPLE = 16;
const CHARACTERS_PER_TOKEN = 4;

/** Requests contain messages of other agents as user contents that begin with this text. */
const CONTEXT_MARK = 'For context:';

/** The function responses in the newest content, by tool name; undefined without any. */
export function newestAnswers(request: ModelRequest): ReadonlyMap<string, JsonObject> | undefined {
  let answers: Map<string, JsonObject> | undefined;
  for (const { functionResponse } of request.contents.at(-1)?.parts ?? []) {
    if (!functionResponse) continue;
    answers ??= new Map();
    answers.set(functionResponse.name, functionResponse.response);
  }
  return answers;
}

const isMessage = (content: Content): boolean =>
  content.role === 'user' &&
  content.parts.some((part) => part.text !== undefined) &&
  content.parts[0]?.text?.startsWith(CONTEXT_MARK) !== true;

/** The text of the user's last message, without messages of other agents. */
export function userText(request: ModelRequest): string {
  return textOf(
    request.contents.findLast(isMessage) ?? request.contents.findLast((content) => content.role === 'user'),
  );
}

/** The newest response of a tool since the user's last message. */
export function answerOf(request: ModelRequest, tool: string): JsonObject | undefined {
  for (let at = request.contents.length - 1; at >= 0; at -= 1) {
    const content = request.contents[at];
    if (!content || isMessage(content)) return undefined;
    const part = content.parts.findLast((candidate) => candidate.functionResponse?.name === tool);
    if (part?.functionResponse) return part.functionResponse.response;
  }
  return undefined;
}

function lengthOf(content: Content): number {
  let length = 0;
  for (const part of content.parts) {
    if (part.text !== undefined) length += part.text.length;
    else if (part.functionCall ?? part.functionResponse) length += JSON.stringify(part).length;
  }
  return length;
}

/** Token counts as a model would report them. Estimated from the newest contents, so that a long history costs no time. */
export function estimateUsage(request: ModelRequest, answer: Content): ModelResponse['usageMetadata'] {
  const { contents, config } = request;
  const from = Math.max(0, contents.length - SAMPLE);
  let sampled = 0;
  for (let at = from; at < contents.length; at += 1) sampled += lengthOf(contents[at] as Content);
  const history = contents.length > SAMPLE ? (sampled * contents.length) / SAMPLE : sampled;
  const promptTokenCount = Math.ceil(((config.systemInstruction?.length ?? 0) + history) / CHARACTERS_PER_TOKEN);
  const candidatesTokenCount = Math.ceil(lengthOf(answer) / CHARACTERS_PER_TOKEN);
  return { promptTokenCount, candidatesTokenCount, totalTokenCount: promptTokenCount + candidatesTokenCount };
}
