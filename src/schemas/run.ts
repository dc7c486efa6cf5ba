import { z } from 'zod';
import { AppError } from '../base/errors.ts';
import { Budget } from './budget.ts';
import { Blob, MessageContent } from './content-schema.ts';
import { lenient } from './lenient.ts';
import { Name } from './names.ts';
import { State } from './session-schema.ts';

/**
 * What a new run does when its session has an active one: wait (`queue`), fail with 409 (`reject`), or cancel the active
 * run and keep its events (`interrupt`) or roll them back (`rollback`).
 */
export const OnBusy = z.enum(['queue', 'reject', 'interrupt', 'rollback']);
export type OnBusy = z.infer<typeof OnBusy>;

/** What a run does when the client that started it disconnects. */
export const OnDisconnect = z.enum(['cancel', 'continue']);
export type OnDisconnect = z.infer<typeof OnDisconnect>;

/** In any case: Java and Python write `SSE`. */
export const StreamingMode = z.preprocess(
  (value) => (typeof value === 'string' ? value.toLowerCase() : value),
  z.enum(['none', 'sse', 'bidi']),
);

/**
 * How the answers of a run are produced. Defaults and meaning: the ADK run configuration. Who may set which limit:
 * `core/run-config.ts`.
 */
export const RunConfig = lenient({
  streamingMode: StreamingMode.optional(),
  /** Model calls allowed in one invocation; 0 or less: no limit. */
  maxLlmCalls: z.number().int().max(Number.MAX_SAFE_INTEGER).optional(),
  saveInputBlobsAsArtifacts: z.boolean().optional(),
  toolExecutionMode: z.enum(['parallel', 'sequential']).optional(),
  /** Tool calls of one model answer that run at the same time. */
  maxParallelToolCalls: z.number().int().positive().optional(),
  autoCreateSession: z.boolean().optional(),
  /** After the error event of a failed model call the run fails (`throw`, default), or ends normally (`end`). */
  onModelFailure: z.enum(['throw', 'end']).optional(),
  /** Whether a plain "yes" or "no" answers the one confirmation that is open. */
  plainTextToolConfirmation: z.boolean().optional(),
  /** Whether models see all calls of a turn before all responses. Absent: Gemini 3 does, others see each call answered. */
  groupFunctionResponsesInHistoryOverride: z.boolean().optional(),
  pauseOnToolCalls: z.boolean().optional(),
  responseModalities: z.array(z.string()).optional(),
  speechConfig: z.record(z.string(), z.unknown()).optional(),
  inputAudioTranscription: z.record(z.string(), z.unknown()).optional(),
  outputAudioTranscription: z.record(z.string(), z.unknown()).optional(),
  realtimeInputConfig: z.record(z.string(), z.unknown()).optional(),
  contextWindowCompression: z.record(z.string(), z.unknown()).optional(),
  /** `false`: a broken live connection is not resumed with the provider's session handle. */
  sessionResumption: z.union([z.record(z.string(), z.unknown()), z.literal(false)]).optional(),
  proactivity: z.record(z.string(), z.unknown()).optional(),
  enableAffectiveDialog: z.boolean().optional(),
  saveLiveBlob: z.boolean().optional(),
  explicitVadSignal: z.boolean().optional(),
  customMetadata: z.record(z.string(), z.unknown()).optional(),
  /** Milliseconds after which the run ends with `timed_out`; 0: no limit. */
  timeoutMs: z.number().int().nonnegative().optional(),
  /** Milliseconds one tool call may take, unless the tool has a limit of its own; 0: no limit. */
  toolTimeoutMs: z.number().int().nonnegative().optional(),
  /** What the run, its session, its user and its app may use. */
  budgets: lenient({
    run: lenient(Budget.shape).optional(),
    session: lenient(Budget.shape).optional(),
    userDay: lenient(Budget.shape).optional(),
    appDay: lenient(Budget.shape).optional(),
  }).optional(),
});
export type RunConfig = z.infer<typeof RunConfig>;

/** Checks the `runConfig` of an app. Throws ConfigurationException. */
export function checkRunConfig(app: string, runConfig: RunConfig | undefined): void {
  const [issue] = RunConfig.optional().safeParse(runConfig).error?.issues ?? [];
  if (!issue) return;
  throw new AppError('ConfigurationException', `runConfig of ${app}: ${issue.path.join('.')}: ${issue.message}`);
}

const runFields = {
  newMessage: MessageContent.optional(),
  streaming: z.boolean().default(false),
  stateDelta: State.optional(),
  functionCallEventId: z.string().optional(),
  invocationId: Name.optional(),
  customMetadata: z.record(z.string(), z.unknown()).optional(),
  onBusy: OnBusy.optional(),
  onDisconnect: OnDisconnect.optional(),
  resumable: z.boolean().optional(),
  runConfig: RunConfig.optional(),
};

/** Body of `/run` and `/run_sse`. `newMessage` may be absent only if `invocationId` names a run to resume. */
export const RunRequest = lenient({
  appName: Name,
  userId: Name,
  sessionId: Name,
  ...runFields,
}).meta({ id: 'RunRequest' });
export type RunRequest = z.infer<typeof RunRequest>;

/** The same where the path says whose session it is. */
export const RunBody = lenient(runFields).meta({ id: 'RunBody' });

const marker = z.record(z.string(), z.unknown());

/**
 * One message of a live client: a turn, realtime media, a manual speech mark, the end of the sound, or the end of input.
 * ADK's newest clients may send a state delta, which the server ignores.
 */
export const LiveRequest = lenient({
  content: MessageContent.optional(),
  blob: Blob.optional(),
  activityStart: marker.optional(),
  activityEnd: marker.optional(),
  audioStreamEnd: z.boolean().optional(),
  stateDelta: z.record(z.string(), z.unknown()).optional(),
  close: z.boolean().optional(),
}).meta({ id: 'LiveRequest' });
export type LiveRequest = z.infer<typeof LiveRequest>;
