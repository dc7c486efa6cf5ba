import type { JsonObject } from '../../base/json.ts';
import { openFields } from '../../schemas/lenient.ts';
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

/** The live settings for the model: audio with transcripts of both sides, unless the run config overrides them. */
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
  const given = openFields(config); // the type does not name `avatarConfig`
  for (const setting of passedThrough) if (given[setting] !== undefined) live[setting] = given[setting];
  return live;
}
