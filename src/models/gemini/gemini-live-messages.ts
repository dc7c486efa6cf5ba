import type { LiveServerContent, LiveServerMessage, Transcription } from '@google/genai';
import type { JsonObject } from '../../base/json.ts';
import type { ModelResponse } from '../../core/model.ts';
import type { Part } from '../../schemas/content.ts';
import type { UsageMetadata } from '../../schemas/event.ts';

/** Reads Gemini's messages of a live connection, and collects chunks for the complete response. */
export interface LiveReader {
  /** The responses for a message: chunks at once; the complete response when its sentence, or the turn, ends. */
  read(message: LiveServerMessage): ModelResponse[];
  /** The incomplete rest when the connection breaks. */
  flush(): ModelResponse[];
  /** Whether the model has begun an answer that it has not ended. */
  readonly isAnswering: boolean;
}

/** Messages without use for this server. */
const ignoredMessages = ['setupComplete', 'voiceActivityDetectionSignal', 'voiceActivity'] as const;

export function liveReader(): LiveReader {
  let parts: Part[] = [];
  let inputText = '';
  let outputText = '';
  let grounding: ModelResponse = {};
  let isAnswering = false;

  const transcription = (
    field: 'inputTranscription' | 'outputTranscription',
    { text = '', finished }: Pick<Transcription, 'text' | 'finished'>,
  ): ModelResponse[] => {
    const isInput = field === 'inputTranscription';
    const whole = (isInput ? inputText : outputText) + text;
    if (isInput) inputText = finished ? '' : whole;
    else outputText = finished ? '' : whole;
    const fragment = text === '' ? [] : [{ [field]: { text, finished: false }, partial: true }];
    return finished && whole !== '' ? [...fragment, { [field]: { text: whole, finished: true } }] : fragment;
  };

  const flush = (): ModelResponse[] => {
    const whole: ModelResponse[] = [
      ...(inputText === '' ? [] : [{ inputTranscription: { text: inputText, finished: true } }]),
      ...(outputText === '' ? [] : [{ outputTranscription: { text: outputText, finished: true } }]),
      ...(parts.length === 0 ? [] : [{ content: { role: 'model', parts }, ...grounding }]),
    ];
    if (parts.length > 0) grounding = {};
    inputText = '';
    outputText = '';
    parts = [];
    return whole;
  };

  const readContent = (content: LiveServerContent): ModelResponse[] => {
    const responses: ModelResponse[] = [];
    const { groundingMetadata, modelTurn, interrupted, turnComplete, turnCompleteReason } = content;
    if (groundingMetadata) grounding = { groundingMetadata: groundingMetadata as JsonObject };
    if (content.inputTranscription) responses.push(...transcription('inputTranscription', content.inputTranscription));
    const shown = (modelTurn?.parts ?? []) as Part[];
    if (shown.length > 0) {
      isAnswering = true;
      responses.push({ content: { role: 'model', parts: shown }, partial: true });
      for (const part of shown) addPart(parts, part);
    }
    if (content.outputTranscription) {
      isAnswering = true;
      responses.push(...transcription('outputTranscription', content.outputTranscription));
    }
    if (interrupted || turnComplete || content.generationComplete) responses.push(...flush());
    if (interrupted) responses.push({ interrupted: true });
    if (turnComplete) {
      isAnswering = false;
      const reason: string | undefined = turnCompleteReason;
      responses.push({ turnComplete: true, ...(reason && { turnCompleteReason: reason }), ...grounding });
      grounding = {};
    }
    return responses;
  };

  return {
    flush,
    get isAnswering() {
      return isAnswering;
    },
    read(message) {
      const { usageMetadata, serverContent, toolCall, toolCallCancellation, goAway, sessionResumptionUpdate } = message;
      const responses: ModelResponse[] = [];
      if (usageMetadata) responses.push({ usageMetadata: usageOf(usageMetadata) });
      if (serverContent) responses.push(...readContent(serverContent));
      if (toolCall) {
        isAnswering = true;
        const calls = (toolCall.functionCalls ?? []).map((functionCall) => ({ functionCall }) as Part);
        if (calls.length > 0) responses.push({ content: { role: 'model', parts: calls } });
      }
      if (toolCallCancellation) responses.push({ toolCallCancellation: { ids: toolCallCancellation.ids ?? [] } });
      if (sessionResumptionUpdate) {
        responses.push({ liveSessionResumptionUpdate: sessionResumptionUpdate as JsonObject, partial: true });
      }
      if (goAway) responses.push({ goAway: goAway as JsonObject, partial: true });
      const isKnown =
        responses.length > 0 || serverContent || toolCall || ignoredMessages.some((kind) => message[kind]);
      return isKnown ? responses : [unknown(message)];
    },
  };
}

/** Adds a part to the complete response. Leaves out audio, and joins consecutive texts. */
function addPart(parts: Part[], part: Part): void {
  if (part.inlineData) return;
  const last = parts.at(-1);
  const joins = last?.text !== undefined && part.text !== undefined && Boolean(last.thought) === Boolean(part.thought);
  if (joins) last.text = (last.text ?? '') + (part.text ?? '');
  else if (part.text !== '') parts.push({ ...part });
}

const unknown = (message: object): ModelResponse => ({
  errorCode: 'UNKNOWN_SERVER_MESSAGE',
  errorMessage: `Unknown server message: ${Object.keys(message).join(', ').slice(0, 200) || 'empty'}`,
});

/** The token counts with the names of other calls. */
function usageOf(usage: NonNullable<LiveServerMessage['usageMetadata']>): UsageMetadata {
  const { responseTokenCount, responseTokensDetails, ...rest } = usage;
  return {
    ...(rest as UsageMetadata),
    ...(responseTokenCount !== undefined && { candidatesTokenCount: responseTokenCount }),
    ...(responseTokensDetails && {
      candidatesTokensDetails: responseTokensDetails,
    }),
  };
}
