import { llmAgent } from 'agent-server';

/** Answers `flood` with 20 MB in chunks of a kilobyte, as fast as they are taken. */
export const rootAgent = llmAgent({
  name: 'flood_agent',
  description: 'Talks without end.',
  model: 'scripted',
  instruction: 'You talk.',
  script: [{ match: '^flood$', chunks: Array.from({ length: 20_000 }, () => 'x'.repeat(1_000)) }, { text: 'Hello!' }],
});
