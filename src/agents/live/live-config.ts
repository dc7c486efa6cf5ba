import type { JsonObject } from '../../base/json.ts';
import type { RunConfig } from '../../schemas/run.ts';

const passedThrough = [
  'speechConfig',
  'realtimeInputConfig',
  'proactivity',
  'enableAffectiveDialog',
  'contextWindowCompression',
  'sessionResumption',
  'explicitVadSignal',
  'avatarConfig',
] as const;

/** The live settings for the model: audio with transcripts of both sides, unless the run config says otherwise. */
export function liveConfigOf(config: RunConfig): JsonObject {
  const { responseModalities = [] } = config;
  const modalities = responseModalities.length > 0 ? responseModalities.map((name) => name.toUpperCase()) : ['AUDIO'];
  const speaks = modalities.includes('AUDIO');
  const live: JsonObject = {
    responseModalities: modalities,
    inputAudioTranscription: config.inputAudioTranscription ?? {},
  };
  const output = config.outputAudioTranscription ?? (speaks ? {} : undefined);
  if (output) live['outputAudioTranscription'] = output;
  for (const setting of passedThrough) if (config[setting] !== undefined) live[setting] = config[setting];
  return live;
}
