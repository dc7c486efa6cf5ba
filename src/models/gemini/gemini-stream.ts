import type { GenerateContentResponse } from '@google/genai';
import type { JsonObject } from '../../base/json.ts';
import type { ModelResponse } from '../../core/model.ts';
import type { FunctionCall, Part } from '../../schemas/content.ts';
import { finishOf } from '../finish-reason.ts';
import { blocked, details, envelope, finish } from './gemini-response.ts';
import { applyPartialArg } from './partial-args.ts';

/** Collects a streamed response. */
export interface GeminiStream {
  /** The chunk to yield; undefined when it has no content. */
  add(chunk: GenerateContentResponse): ModelResponse | undefined;
  /** The complete response; undefined when the stream was empty. */
  end(finishMessage?: string): ModelResponse | undefined;
}

/**
 * Joins the chunks of a stream. Consecutive texts become one part, and so do thoughts; a signature stays on the text it
 * came with; calls keep the ids that earlier chunks showed; other parts stay unchanged.
 */
export function geminiStream(): GeminiStream {
  const parts: Part[] = [];
  let openCall: { functionCall: FunctionCall; args: JsonObject } | undefined;
  let collected: ModelResponse | undefined;
  let answered = false;

  const addCall = (part: Part, call: Partial<FunctionCall>): Part | undefined => {
    const fragments = call.partialArgs;
    if (!call.name) {
      // A call without a name continues or ends the open one. Without an open call, one with arguments is kept as it is.
      if (!openCall && call.args) parts.push(part);
      const shown =
        openCall && fragments ? { ...part, functionCall: { ...call, ...identity(openCall.functionCall) } } : undefined;
      for (const fragment of fragments ?? []) if (openCall) applyPartialArg(openCall.args, fragment);
      if (!call.willContinue) openCall = undefined;
      return shown;
    }
    const named = { ...call, name: call.name, id: call.id || `adk-${crypto.randomUUID()}` };
    const args: JsonObject = { ...call.args };
    for (const fragment of fragments ?? []) applyPartialArg(args, fragment);
    const { partialArgs: _fragments, willContinue: _open, ...rest } = named;
    const functionCall: FunctionCall = { ...rest, args };
    parts.push({ ...part, functionCall });
    openCall = call.willContinue ? { functionCall, args } : undefined;
    return { ...part, functionCall: named };
  };

  const addPart = (part: Part): Part | undefined => {
    if (part.functionCall) return addCall(part, part.functionCall);
    if (!isText(part)) {
      parts.push(part);
      return part;
    }
    const run = parts.at(-1);
    if (run && isText(run) && Boolean(run.thought) === Boolean(part.thought)) {
      run.text = (run.text ?? '') + (part.text ?? '');
      if (part.thoughtSignature !== undefined) run.thoughtSignature ??= part.thoughtSignature;
    } else if (part.text !== '' || part.thoughtSignature !== undefined) parts.push({ ...part });
    return part.text === '' && part.thoughtSignature === undefined ? undefined : part;
  };

  return {
    add(chunk) {
      const [candidate] = chunk.candidates ?? [];
      if (candidate && !answered) collected = undefined;
      const step = candidate ? { ...finish(candidate), ...details(candidate) } : {};
      answered ||= candidate !== undefined;
      // A chunk without a candidate explains the missing answer only if none came before; later ones may have only counts.
      const feedback = answered ? {} : blocked(chunk);
      collected = { ...collected, ...feedback, ...step, ...envelope(chunk) };
      const shown: Part[] = [];
      for (const part of (candidate?.content?.parts ?? []) as Part[]) {
        const one = addPart(part);
        if (one) shown.push(one);
      }
      if (shown.length === 0) return undefined;
      return { content: { role: 'model', parts: shown }, partial: true, ...envelope(chunk) };
    },
    end(finishMessage) {
      if (!collected) return undefined;
      const content = parts.length > 0 ? { content: { role: 'model', parts } } : {};
      const message =
        collected.finishReason && collected.errorCode && finishMessage ? { errorMessage: finishMessage } : {};
      return { ...content, ...finishOf(parts, { ...collected, ...message }) };
    },
  };
}

/** Whether a part is only text, so that it can be joined with others. */
function isText(part: Part): boolean {
  if (part.text === undefined) return false;
  for (const key in part) if (key !== 'text' && key !== 'thought' && key !== 'thoughtSignature') return false;
  return true;
}

const identity = ({ name, id }: FunctionCall): FunctionCall => (id === undefined ? { name } : { name, id });
