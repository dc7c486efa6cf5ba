import { AppError } from '../../base/errors.ts';
import type { LiveInput } from '../../core/model.ts';
import { LiveRequest } from '../../schemas/run.ts';
import { parseJson } from '../requests/json-body.ts';
import { parse } from '../validation.ts';

/** A parsed frame of a live client. */
export interface ClientMessage {
  readonly input: LiveInput | undefined;
  /** Whether this is the client's last message. */
  readonly closes: boolean;
}

/** The media type of binary frames. */
const rawAudio = 'audio/pcm;rate=16000';

/** Reads a binary frame: raw microphone audio. */
export function readBinaryFrame(data: Buffer): ClientMessage {
  const blob = { mimeType: rawAudio, data: data.toString('base64') };
  return { input: data.length > 0 ? { kind: 'blob', blob } : undefined, closes: false };
}

/**
 * Reads a JSON frame. If several fields are set, the first of activityStart, activityEnd, blob, content and
 * audioStreamEnd counts. Throws `invalid_request`.
 */
export function readTextFrame(data: Buffer): ClientMessage {
  const request = parse(LiveRequest, parseJson(data, 'message'), 'LiveRequest') as LiveRequest;
  const input = inputOf(request);
  const { close, audioStreamEnd, stateDelta } = request;
  if (!input && (close ?? audioStreamEnd ?? stateDelta) === undefined) {
    throw new AppError('invalid_request', 'Invalid LiveRequest: it has none of content, blob, activityStart, close');
  }
  return { input, closes: close === true };
}

function inputOf({ activityStart, activityEnd, blob, content, audioStreamEnd }: LiveRequest): LiveInput | undefined {
  if (activityStart) return { kind: 'activityStart' };
  if (activityEnd) return { kind: 'activityEnd' };
  if (blob) return { kind: 'blob', blob: { ...blob, data: standardBase64(blob.data) } };
  if (content) return { kind: 'content', content };
  return audioStreamEnd ? { kind: 'audioStreamEnd' } : undefined;
}

/** Converts to the standard base64 alphabet with padding, which models require. */
function standardBase64(data: string): string {
  const text = /[-_]/.test(data) ? data.replaceAll('-', '+').replaceAll('_', '/') : data;
  const bare = text.length % 4 === 0 ? text : text.replace(/=+$/, '');
  return bare.padEnd(Math.ceil(bare.length / 4) * 4, '=');
}
