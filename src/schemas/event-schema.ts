import { z } from 'zod';
import { lazily } from '../base/lazily.ts';
import { Content } from './content-schema.ts';
import { lenient } from './lenient.ts';

const jsonObject = z.record(z.string(), z.unknown());

/** A user's yes or no to a tool call that requested confirmation. */
export const ToolConfirmation = lenient({
  confirmed: z.boolean().default(false),
  hint: z.string().optional(),
  payload: z.unknown().optional(),
}).meta({ id: 'ToolConfirmation' });
export type ToolConfirmation = z.infer<typeof ToolConfirmation>;

/** Seconds since the epoch from seconds, milliseconds or an RFC 3339 text: peers write each of them. */
export const Timestamp = z
  .union([z.number(), z.string()])
  .transform((value, ctx) => {
    const number = typeof value === 'number' ? value : Date.parse(value) / 1000;
    if (Number.isFinite(number)) return number > 1e11 ? number / 1000 : number;
    ctx.addIssue({ code: 'custom', message: 'is not a time' });
    return z.NEVER;
  })
  .pipe(z.number())
  .meta({ description: 'Seconds since the epoch' });

/** A summary that stands for the events between two times. */
export const EventCompaction = lenient({
  startTimestamp: Timestamp,
  endTimestamp: Timestamp,
  compactedContent: Content,
}).meta({ id: 'EventCompaction' });
export type EventCompaction = z.infer<typeof EventCompaction>;

/** The effects of an event. The four maps are always present on the wire. */
export const EventActions = lenient({
  stateDelta: jsonObject.default({}),
  artifactDelta: z.record(z.string(), z.number()).default({}),
  requestedAuthConfigs: jsonObject.default({}),
  requestedToolConfirmations: z.record(z.string(), ToolConfirmation).default({}),
  deletedArtifactIds: z.array(z.string()).optional(),
  skipSummarization: z.boolean().optional(),
  transferToAgent: z.string().optional(),
  escalate: z.boolean().optional(),
  endOfAgent: z.boolean().optional(),
  /** Deprecated spelling of `endOfAgent`; read, never written. */
  endInvocation: z.boolean().optional(),
  agentState: jsonObject.optional(),
  compaction: EventCompaction.optional(),
  rewindBeforeInvocationId: z.string().optional(),
  route: z.unknown().optional(),
  setModelResponse: z.unknown().optional(),
}).meta({ id: 'EventActions' });
export type EventActions = z.infer<typeof EventActions>;

export const Transcription = lenient({ text: z.string().optional(), finished: z.boolean().optional() });
export type Transcription = z.infer<typeof Transcription>;

const TokensDetails = z
  .array(lenient({ modality: z.string().optional(), tokenCount: z.number().optional() }))
  .optional();

/** Token counts of one model call, in Gemini's words. */
export const UsageMetadata = lenient({
  promptTokenCount: z.number().optional(),
  candidatesTokenCount: z.number().optional(),
  totalTokenCount: z.number().optional(),
  thoughtsTokenCount: z.number().optional(),
  cachedContentTokenCount: z.number().optional(),
  toolUsePromptTokenCount: z.number().optional(),
  promptTokensDetails: TokensDetails,
  candidatesTokensDetails: TokensDetails,
  cacheTokensDetails: TokensDetails,
  toolUsePromptTokensDetails: TokensDetails,
  trafficType: z.string().optional(),
});
export type UsageMetadata = z.infer<typeof UsageMetadata>;

/** The fields a model's answer shares with the event made from it. */
export const responseFields = {
  content: Content.optional(),
  partial: z.boolean().optional(),
  turnComplete: z.boolean().optional(),
  turnCompleteReason: z.string().optional(),
  interrupted: z.boolean().optional(),
  finishReason: z.string().optional(),
  errorCode: z.string().optional(),
  errorMessage: z.string().optional(),
  usageMetadata: UsageMetadata.optional(),
  groundingMetadata: jsonObject.optional(),
  citationMetadata: jsonObject.optional(),
  modelVersion: z.string().optional(),
  avgLogprobs: z.number().optional(),
  logprobsResult: jsonObject.optional(),
  cacheMetadata: jsonObject.optional(),
  /** Java sends a list of entries here, the others an object: both are kept. */
  customMetadata: z.union([jsonObject, z.array(z.unknown())]).optional(),
  inputTranscription: Transcription.optional(),
  outputTranscription: Transcription.optional(),
  liveSessionResumptionUpdate: jsonObject.optional(),
  liveSessionId: z.string().optional(),
  goAway: jsonObject.optional(),
  /** Calls the model does not want answered any more: the user interrupted it. */
  toolCallCancellation: lenient({ ids: z.array(z.string()).default([]) }).optional(),
};

/** What a model answers. */
export const responseSchema = lazily(() => lenient(responseFields));

/** One entry of a session's history: what an author said or did. Partial events are sent, never stored. Times are in seconds. */
export const Event = lenient({
  id: z.string(),
  invocationId: z.string().default(''),
  author: z.string(),
  timestamp: Timestamp,
  ...responseFields,
  actions: EventActions.prefault({}),
  longRunningToolIds: z.array(z.string()).optional(),
  branch: z.string().optional(),
  output: z.unknown().optional(),
  nodeInfo: jsonObject.optional(),
}).meta({ id: 'Event' });
export type Event = z.infer<typeof Event>;
