import type { LiveConnectConfig } from '@google/genai';
import type { JsonObject } from '../../base/json.ts';
import type { ModelRequest } from '../../core/model.ts';
import { type GeminiService, toGeminiConfig } from './gemini-request.ts';

/**
 * The setup of a live conversation for Google's SDK. `handle` resumes a conversation. Without it the setup still requests
 * handles, so that the conversation survives the end of a connection, unless resumption is off.
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
 * When to connect to the Live API: at once for live models, by name; for other Gemini models only when the user sends
 * media, because they answer text better without it.
 */
export function connectsFor(model: string): 'all' | 'media' {
  return /live|native-audio|gemini-2\.0-flash-exp$/.test(model) ? 'all' : 'media';
}
