import type { LiveSendRealtimeInputParameters, Session } from '@google/genai';
import { type LiveInput, ModelError } from '../../core/model.ts';
import type { Blob, Content, FunctionResponse } from '../../schemas/content.ts';
import { type GeminiService, toGeminiTurns } from './gemini-request.ts';

interface Destination {
  readonly model: string;
  readonly service: GeminiService;
}

/** Sends one input of the client, or a tool's response. Throws ModelError for input that the Live API does not support. */
export function sendLive(session: Session, input: LiveInput, to: Destination): void {
  try {
    if (input.kind === 'content') sendContent(session, input.content, to);
    else if (input.kind === 'blob') session.sendRealtimeInput(mediaOf(input.blob));
    else session.sendRealtimeInput({ [input.kind]: input.kind === 'audioStreamEnd' ? true : {} });
  } catch (error) {
    throw new ModelError('CLIENT_ERROR', 'The message cannot be sent over a live connection', { cause: error });
  }
}

function sendContent(session: Session, content: Content, { model, service }: Destination): void {
  const responses = content.parts.flatMap(({ functionResponse }) => (functionResponse ? [functionResponse] : []));
  if (responses.length > 0) {
    session.sendToolResponse({ functionResponses: responses.map((response) => answerOf(response, service)) });
  }
  const rest = content.parts.filter(({ functionResponse }) => !functionResponse);
  if (rest.length === 0) return;
  const texts = rest.flatMap(({ text }) => (text === undefined ? [] : [text]));
  // Gemini 3 accepts messages only as real-time input.
  if (/gemini-3/.test(model) && texts.length === rest.length) session.sendRealtimeInput({ text: texts.join('\n') });
  else session.sendClientContent({ turns: toGeminiTurns([{ ...content, parts: rest }], service), turnComplete: true });
}

/** The Developer API requires an id in each response, also one that this server made. */
function answerOf({ id, name, response, scheduling, willContinue }: FunctionResponse, service: GeminiService): object {
  const isOurs = id?.startsWith('adk-') === true;
  return {
    ...(id !== undefined && !(isOurs && service.vertex) && { id }),
    name,
    response,
    ...(scheduling !== undefined && { scheduling }),
    ...(willContinue !== undefined && { willContinue }),
  };
}

function mediaOf({ mimeType, data }: Blob): LiveSendRealtimeInputParameters {
  const blob = { mimeType, data };
  if (mimeType.startsWith('audio/')) return { audio: blob };
  return mimeType.startsWith('image/') ? { video: blob } : { media: blob };
}
