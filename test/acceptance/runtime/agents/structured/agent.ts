import { functionTool, llmAgent } from 'agent-server';
import { z } from 'zod';

const Report = z.object({ city: z.string(), degrees: z.number() });
const thermometer = functionTool({
  name: 'thermometer',
  description: 'Reads the temperature.',
  parameters: z.object({ city: z.string() }),
  run: () => ({ degrees: 21 }),
});

/** With tools: Gemini 2 takes no schema beside functions. */
export const rootAgent = llmAgent({
  name: 'structured',
  model: 'gemini-2.5-flash',
  outputSchema: Report,
  outputKey: 'report',
  tools: [thermometer],
});
