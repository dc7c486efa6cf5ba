import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { textContent } from '../schemas/content.ts';
import type { EvalCase, EvalSet, Invocation } from '../schemas/evaluation/eval-set.ts';

const Turn = z.object({
  query: z.string(),
  reference: z.string().nullish(),
  expected_tool_use: z
    .array(z.object({ tool_name: z.string(), tool_input: z.record(z.string(), z.unknown()).nullish() }))
    .nullish(),
  expected_intermediate_agent_responses: z.array(z.object({ author: z.string(), text: z.string() })).nullish(),
});

const Case = z.object({
  name: z.string().min(1),
  data: z.array(Turn),
  initial_session: z
    .object({
      state: z.record(z.string(), z.unknown()).nullish(),
      app_name: z.string().nullish(),
      user_id: z.string().nullish(),
    })
    .nullish(),
});

/** ADK's first two formats: a list of named conversations, and the turns of a single one. */
const LegacySet = z.union([z.array(Case).min(1), z.array(Turn).min(1)]);

/** The set in an old file; `undefined` for another format. */
export function legacySet(json: unknown, evalSetId: string): EvalSet | undefined {
  const parsed = LegacySet.safeParse(json);
  if (!parsed.success) return undefined;
  const cases: EvalCase[] = [];
  const turns: Invocation[] = [];
  for (const entry of parsed.data) {
    if ('query' in entry) turns.push(invocationOf(entry));
    else cases.push(caseOf(entry));
  }
  if (turns.length > 0) cases.push({ evalId: evalSetId, conversation: turns, creationTimestamp: 0 });
  return { evalSetId, name: evalSetId, evalCases: cases, creationTimestamp: 0 };
}

function caseOf({ name, data, initial_session: session }: z.infer<typeof Case>): EvalCase {
  return {
    evalId: name,
    conversation: data.map(invocationOf),
    creationTimestamp: 0,
    ...(session && {
      sessionInput: {
        appName: session.app_name ?? '',
        userId: session.user_id ?? '',
        state: session.state ?? {},
      },
    }),
  };
}

function invocationOf(turn: z.infer<typeof Turn>): Invocation {
  return {
    invocationId: randomUUID(),
    userContent: textContent('user', turn.query),
    finalResponse: textContent('model', turn.reference ?? ''),
    intermediateData: {
      toolUses: (turn.expected_tool_use ?? []).map((use) => ({ name: use.tool_name, args: use.tool_input ?? {} })),
      intermediateResponses: (turn.expected_intermediate_agent_responses ?? []).map(({ author, text }) => [
        author,
        [{ text }],
      ]),
    },
    creationTimestamp: 0,
  };
}
