import type { Event } from '../../../src/schemas/event.ts';

export interface Tokens {
  readonly input: number;
  readonly output: number;
  readonly cached: number;
  readonly total: number;
}

/** One invocation: what it used and how long it took. Times are in seconds. */
export interface Turn {
  readonly invocationId: string;
  /** Positions of its first and last event in the log. */
  readonly first: number;
  readonly last: number;
  readonly startedAt: number;
  readonly endedAt: number;
  readonly tokens: Tokens;
  /** Tokens by model; `''` when the event does not name its model. */
  readonly byModel: Readonly<Record<string, Tokens>>;
  readonly modelCalls: number;
  readonly errors: number;
}

export const noTokens: Tokens = { input: 0, output: 0, cached: 0, total: 0 };

export const addTokens = (a: Tokens, b: Tokens): Tokens => ({
  input: a.input + b.input,
  output: a.output + b.output,
  cached: a.cached + b.cached,
  total: a.total + b.total,
});

/** The tokens of the event's model call; `undefined` for an event without one. */
export function tokensOf({ usageMetadata: usage }: Event): Tokens | undefined {
  if (!usage) return undefined;
  const input = (usage.promptTokenCount ?? 0) + (usage.toolUsePromptTokenCount ?? 0);
  const output = (usage.candidatesTokenCount ?? 0) + (usage.thoughtsTokenCount ?? 0);
  const cached = usage.cachedContentTokenCount ?? 0;
  return { input, output, cached, total: usage.totalTokenCount ?? input + output };
}

/** The turn with one more event. */
export function extend(turn: Turn | undefined, event: Event, index: number): Turn {
  const tokens = tokensOf(event);
  const model = event.modelVersion ?? '';
  const before = turn ?? {
    invocationId: event.invocationId,
    first: index,
    last: index,
    startedAt: event.timestamp,
    endedAt: event.timestamp,
    tokens: noTokens,
    byModel: {},
    modelCalls: 0,
    errors: 0,
  };
  return {
    ...before,
    last: index,
    startedAt: Math.min(before.startedAt, event.timestamp),
    endedAt: Math.max(before.endedAt, event.timestamp),
    ...(tokens && {
      tokens: addTokens(before.tokens, tokens),
      byModel: { ...before.byModel, [model]: addTokens(before.byModel[model] ?? noTokens, tokens) },
      modelCalls: before.modelCalls + 1,
    }),
    errors: before.errors + (event.errorCode === undefined && event.errorMessage === undefined ? 0 : 1),
  };
}
