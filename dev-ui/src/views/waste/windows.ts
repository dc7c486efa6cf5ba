/** Tokens a model takes in one call, by the beginning of its name, as the providers say. Others are not judged. */
const windows: Readonly<Record<string, number>> = {
  'gemini-': 1_048_576,
  'gemini-1.5-pro': 2_097_152,
  'claude-': 200_000,
  'gpt-4o': 128_000,
  'gpt-4.1': 1_047_576,
  'gpt-5': 400_000,
};

export function windowOf(model: string): number | undefined {
  const name = model.slice(model.lastIndexOf('/') + 1);
  const [best] = Object.entries(windows)
    .filter(([prefix]) => name.startsWith(prefix))
    .toSorted(([a], [b]) => b.length - a.length);
  return best?.[1];
}
