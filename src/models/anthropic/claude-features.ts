/** Differences between the generations of Claude. Unknown names count as the newest. */
export interface ClaudeFeatures {
  /** Which of temperature, topP and topK it accepts (in the API version of 2023). */
  readonly sampling: 'all' | 'temperature or topP' | 'none';
  /** Whether thinking can be disabled. */
  readonly thinkingCanBeOff: boolean;
  /** Whether the model decides how much it thinks; earlier models take a number of tokens. */
  readonly adaptiveThinking: boolean;
  /** Whether it supports a JSON Schema for its output. */
  readonly structuredOutput: boolean;
  /** The output limit in tokens, unless the request has one. */
  readonly maxTokens: number;
}

const familyFirst = /claude-[a-z]+-(\d+)(?:[.-](\d{1,2}))?(?!\d)/;
const versionFirst = /claude-(\d+)(?:[.-](\d{1,2}))?(?!\d)/;

/** The features of a model by its name. Sources: Anthropic's notes on API version 2026-10-21 and on thinking. */
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
