import { AppError } from '../../base/errors.ts';
import type { LiveInput } from '../../core/model.ts';
import { LiveRequest } from '../../schemas/run.ts';
import { parseJson } from '../json-body.ts';
import { parse } from '../validation.ts';

/** What a frame of a live client says. */
export interface ClientMessage {
  readonly input: LiveInput | undefined;
  /** Nothing more will come after this. */
  readonly closes: boolean;
}

/** What bare binary frames hold. */
const rawAudio = 'audio/pcm;rate=16000';

/** Sound as it comes from a microphone, without JSON around it. */
export function readBinaryFrame(data: Buffer): ClientMessage {
  const blob = { mimeType: rawAudio, data: data.toString('base64') };
  return { input: data.length > 0 ? { kind: 'blob', blob } : undefined, closes: false };
}

/**
 * A JSON frame. When it says several things, the first of activity start, activity end, blob, content and the end of sound
 * counts. Throws `invalid_request`.
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

/** Models take the standard alphabet, padded. */
function standardBase64(data: string): string {
  const text = /[-_]/.test(data) ? data.replaceAll('-', '+').replaceAll('_', '/') : data;
  const bare = text.length % 4 === 0 ? text : text.replace(/=+$/, '');
  return bare.padEnd(Math.ceil(bare.length / 4) * 4, '=');
}
