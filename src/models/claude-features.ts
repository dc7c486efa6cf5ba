/** What differs between the generations of Claude. Unknown names count as the newest. */
export interface ClaudeFeatures {
  /** Which of temperature, topP and topK it takes (in the API version of 2023). */
  readonly sampling: 'all' | 'temperature or topP' | 'none';
  /** Whether it can be asked not to think. */
  readonly thinkingCanBeOff: boolean;
  /** Thinks as much as it sees fit; earlier models are given a number of tokens. */
  readonly adaptiveThinking: boolean;
  /** Can be held to a JSON Schema. */
  readonly structuredOutput: boolean;
  /** Tokens to answer with when the request does not say. */
  readonly maxTokens: number;
}

const familyFirst = /claude-[a-z]+-(\d+)(?:[.-](\d{1,2}))?(?!\d)/;
const versionFirst = /claude-(\d+)(?:[.-](\d{1,2}))?(?!\d)/;

/** What the named model can do. Sources: Anthropic's notes on API version 2026-10-21 and on thinking. */
export function claudeFeatures(model: string): ClaudeFeatures {
  const match = familyFirst.exec(model) ?? versionFirst.exec(model);
  const version = match ? Number(match[1]) + Number(match[2] ?? 0) / 100 : Number.POSITIVE_INFINITY;
  return {
    sampling: version <= 4 ? 'all' : version <= 4.06 ? 'temperature or topP' : 'none',
    thinkingCanBeOff: Number.isFinite(version) && !/fable|mythos/.test(model),
    adaptiveThinking: version >= 4.06,
    structuredOutput: version >= 4.05,
    maxTokens: version < 3.05 ? 4_096 : version <= 4.06 ? 8_192 : 16_384,
  };
}
