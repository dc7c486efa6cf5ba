import { z } from 'zod';
import type { Tool } from '../../core/runtime.ts';
import { functionTool } from '../function-tool.ts';

/** Lets a model ask the user for information it needs. The application answers the call later. */
export const requestInput: Tool = functionTool({
  name: 'adk_request_input',
  description: 'Asks the user for information that is needed to go on, and waits for it.',
  parameters: z.object({
    message: z.string().describe('The question, in the language of the user'),
    payload: z.record(z.string(), z.unknown()).optional().describe('What the user should see beside it'),
    response_schema: z.record(z.string(), z.unknown()).optional().describe('JSON Schema of the expected answer'),
  }),
  isLongRunning: true,
  // The user gives the answer.
  run: () => undefined,
});
