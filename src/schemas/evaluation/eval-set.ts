import { z } from 'zod';
import { Content, FunctionCall, FunctionResponse, Part } from '../content-schema.ts';
import { Timestamp, UsageMetadata } from '../event-schema.ts';
import { lenient } from '../lenient.ts';
import { State } from '../session-schema.ts';

const jsonObject = z.record(z.string(), z.unknown());

/** One property an answer shall have, for a judge to say yes or no to. `type` says which metric looks at it. */
export const Rubric = lenient({
  rubricId: z.string().min(1),
  rubricContent: lenient({ textProperty: z.string().default('') }),
  description: z.string().optional(),
  type: z.string().optional(),
}).meta({ id: 'Rubric' });
export type Rubric = z.infer<typeof Rubric>;

/** What an agent did on the way to its answer: as lists of calls (older files), or as events. */
export const IntermediateData = lenient({
  toolUses: z.array(FunctionCall).optional(),
  toolResponses: z.array(FunctionResponse).optional(),
  /** Author and parts of what was said before the final answer. */
  intermediateResponses: z.array(z.tuple([z.string(), z.array(Part)])).optional(),
  invocationEvents: z
    .array(
      lenient({
        author: z.string(),
        content: Content.optional(),
        groundingMetadata: jsonObject.optional(),
        usageMetadata: UsageMetadata.optional(),
        modelVersion: z.string().optional(),
      }),
    )
    .optional(),
});
export type IntermediateData = z.infer<typeof IntermediateData>;

/** One turn: what the user says, and what the agent did or is expected to do. `duration` is in seconds. */
export const Invocation = lenient({
  invocationId: z.string().default(''),
  userContent: Content,
  finalResponse: Content.optional(),
  intermediateData: IntermediateData.optional(),
  creationTimestamp: Timestamp.default(0),
  inferenceCallCount: z.number().int().nonnegative().optional(),
  duration: z.number().optional(),
  rubrics: z.array(Rubric).optional(),
  appDetails: jsonObject.optional(),
}).meta({ id: 'Invocation' });
export type Invocation = z.infer<typeof Invocation>;

/** A conversation that a simulated user leads: its first message, and what it is after. */
export const ConversationScenario = lenient({
  startingPrompt: z.string().min(1),
  conversationPlan: z.string(),
  /** The name of a persona, or its description. */
  userPersona: z.unknown().optional(),
}).meta({ id: 'ConversationScenario' });
export type ConversationScenario = z.infer<typeof ConversationScenario>;

/** What the session of a case begins with. */
export const SessionInput = lenient({
  appName: z.string().default(''),
  userId: z.string().default(''),
  sessionId: z.string().optional(),
  state: State.default({}),
});
export type SessionInput = z.infer<typeof SessionInput>;

/** One conversation to hold again: either turn by turn, or led by a simulated user. */
export const EvalCase = lenient({
  evalId: z.string().min(1),
  conversation: z.array(Invocation).max(1_000).optional(),
  conversationScenario: ConversationScenario.optional(),
  sessionInput: SessionInput.optional(),
  creationTimestamp: Timestamp.default(0),
  rubrics: z.array(Rubric).optional(),
  finalSessionState: State.optional(),
})
  .refine((evalCase) => (evalCase.conversation === undefined) !== (evalCase.conversationScenario === undefined), {
    message: 'must have either a conversation or a conversationScenario',
    path: ['conversation'],
  })
  .meta({ id: 'EvalCase' });
export type EvalCase = z.infer<typeof EvalCase>;

/** Where the answers of models come from. `replay` is ADK's word for `recorded`. */
export const ExecutionMode = z.enum(['live', 'replay', 'record', 'recorded']);

/** A set of cases, as the file `<evalSetId>.evalset.json` beside an app holds it. */
export const EvalSet = lenient({
  evalSetId: z.string().min(1),
  name: z.string().optional(),
  description: z.string().optional(),
  evalCases: z.array(EvalCase).default([]),
  creationTimestamp: Timestamp.default(0),
  modelExecutionMode: ExecutionMode.optional(),
  toolExecutionMode: ExecutionMode.optional(),
}).meta({ id: 'EvalSet' });
export type EvalSet = z.infer<typeof EvalSet>;

/** The function calls of a turn, in order. */
export function toolCallsOf(data: IntermediateData | undefined): FunctionCall[] {
  const inEvents = (data?.invocationEvents ?? []).flatMap(({ content }) => content?.parts ?? []);
  return data?.toolUses ?? inEvents.flatMap((part) => (part.functionCall ? [part.functionCall] : []));
}

/** What the tools of a turn answered, in order. */
export function toolResponsesOf(data: IntermediateData | undefined): FunctionResponse[] {
  const inEvents = (data?.invocationEvents ?? []).flatMap(({ content }) => content?.parts ?? []);
  return data?.toolResponses ?? inEvents.flatMap((part) => (part.functionResponse ? [part.functionResponse] : []));
}
