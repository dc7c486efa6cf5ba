import { z } from 'zod';
import { anyCaseObject, anyCaseLooseObject } from './key-case.ts';

const jsonObject = z.record(z.string(), z.unknown());
/** YAML 1.1 writers say yes and on; quoted truth values are taken for what they say. */
export const Flag = z.preprocess((value) => {
  if (typeof value !== 'string') return value;
  const word = value.toLowerCase();
  if (['true', 'yes', 'on'].includes(word)) return true;
  return ['false', 'no', 'off'].includes(word) ? false : value;
}, z.boolean());

/** The words of Gemini's enumerations, which are written in capitals. */
const Word = z.string().min(1).toUpperCase();

const HttpOptions = anyCaseLooseObject({
  baseUrl: z.string().optional(),
  apiVersion: z.string().optional(),
  headers: z.record(z.string(), z.string()).optional(),
  timeout: z.number().nonnegative().optional().describe('Milliseconds'),
  extraBody: jsonObject.optional(),
  retryOptions: anyCaseLooseObject({
    attempts: z.number().int().nonnegative().optional(),
    initialDelay: z.number().nonnegative().optional().describe('Seconds'),
    maxDelay: z.number().nonnegative().optional().describe('Seconds'),
    expBase: z.number().optional(),
    jitter: z.number().optional(),
    httpStatusCodes: z.array(z.number().int()).optional(),
  }).optional(),
});

const VoiceConfig = anyCaseLooseObject({
  prebuiltVoiceConfig: anyCaseLooseObject({ voiceName: z.string().optional() }).optional(),
});

const forbidden = (instead: string): z.ZodOptional<z.ZodNever> =>
  z.never({ error: `does not belong here: use ${instead} of the agent` }).optional();

/** How much a model thinks before it answers. */
export const ThinkingConfig = anyCaseLooseObject({
  includeThoughts: Flag.optional(),
  thinkingBudget: z.number().int().optional(),
  thinkingLevel: Word.optional(),
});

/** Settings of the model calls, in Gemini's vocabulary. */
export const GenerateContentConfig = anyCaseLooseObject({
  temperature: z.number().min(0).optional(),
  topP: z.number().min(0).optional(),
  topK: z.number().min(0).optional(),
  candidateCount: z.number().int().positive().optional(),
  maxOutputTokens: z.number().int().positive().optional(),
  stopSequences: z.array(z.string()).optional(),
  responseLogprobs: Flag.optional(),
  logprobs: z.number().int().nonnegative().optional(),
  presencePenalty: z.number().optional(),
  frequencyPenalty: z.number().optional(),
  seed: z.number().int().optional(),
  responseMimeType: z.string().optional(),
  responseJsonSchema: jsonObject.optional(),
  safetySettings: z
    .array(anyCaseObject({ category: Word, threshold: Word, method: Word.optional() }))
    .optional()
    .describe('For instance { category: HARM_CATEGORY_HARASSMENT, threshold: BLOCK_ONLY_HIGH }'),
  labels: z.record(z.string(), z.string()).optional(),
  cachedContent: z.string().optional(),
  responseModalities: z.array(Word).optional(),
  mediaResolution: Word.optional(),
  speechConfig: anyCaseLooseObject({
    languageCode: z.string().optional(),
    voiceConfig: VoiceConfig.optional(),
    multiSpeakerVoiceConfig: anyCaseLooseObject({
      speakerVoiceConfigs: z
        .array(anyCaseLooseObject({ speaker: z.string().optional(), voiceConfig: VoiceConfig.optional() }))
        .optional(),
    }).optional(),
  }).optional(),
  thinkingConfig: ThinkingConfig.optional(),
  toolConfig: anyCaseLooseObject({
    functionCallingConfig: anyCaseLooseObject({
      mode: Word.optional(),
      allowedFunctionNames: z.array(z.string()).optional(),
    }).optional(),
    retrievalConfig: jsonObject.optional(),
  }).optional(),
  routingConfig: anyCaseLooseObject({
    autoMode: anyCaseLooseObject({ modelRoutingPreference: z.string().optional() }).optional(),
    manualMode: anyCaseLooseObject({ modelName: z.string().optional() }).optional(),
  }).optional(),
  modelSelectionConfig: anyCaseLooseObject({ featureSelectionPreference: Word.optional() }).optional(),
  imageConfig: anyCaseLooseObject({ aspectRatio: z.string().optional(), imageSize: z.string().optional() }).optional(),
  audioTimestamp: Flag.optional(),
  automaticFunctionCalling: anyCaseLooseObject({
    disable: Flag.optional(),
    maximumRemoteCalls: z.number().int().optional(),
    ignoreCallHistory: Flag.optional(),
  }).optional(),
  modelArmorConfig: anyCaseLooseObject({
    promptTemplateName: z.string().optional(),
    responseTemplateName: z.string().optional(),
  }).optional(),
  serviceTier: z.string().optional(),
  httpOptions: HttpOptions.optional(),
  tools: forbidden('"tools"'),
  systemInstruction: forbidden('"instruction"'),
  responseSchema: forbidden('"output_schema"'),
}).meta({ id: 'GenerateContentConfig' });
export type GenerateContentConfig = z.infer<typeof GenerateContentConfig>;
