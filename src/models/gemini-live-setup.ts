import type { LiveConnectConfig } from '@google/genai';
import type { JsonObject } from '../base/json.ts';
import type { ModelRequest } from '../core/model.ts';
import { type GeminiService, toGeminiConfig } from './gemini-request.ts';

/**
 * How a live conversation begins, in the words of Google's SDK. `handle` goes on with one that was cut off; without it
 * the provider is asked for handles all the same, so that a connection that ends does not end the conversation, unless
 * resumption is off.
 */
export function toLiveConfig(
  request: ModelRequest,
  service: GeminiService,
  handle: string | undefined,
): LiveConnectConfig {
  const { explicitVadSignal, sessionResumption, ...live } = request.liveConfig ?? {};
  const resumption: JsonObject = { ...(sessionResumption as JsonObject | undefined) };
  if (handle !== undefined) resumption['handle'] = handle;
  if (!service.vertex) delete resumption['transparent']; // the Developer API does not know it
  return {
    ...toGeminiConfig(request.config, service),
    ...live,
    ...(service.vertex && explicitVadSignal !== undefined && { explicitVadSignal: explicitVadSignal === true }),
    ...(sessionResumption !== false && { sessionResumption: resumption }),
  };
}

/**
 * Which models are talked with: those made for it always; other Gemini models, as far as the name tells, only once there
 * is something to hear, for they answer text better by themselves.
 */
export function connectsFor(model: string): 'all' | 'media' {
  return /live|native-audio|gemini-2\.0-flash-exp$/.test(model) ? 'all' : 'media';
}
