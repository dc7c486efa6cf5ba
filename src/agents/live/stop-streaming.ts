import { AppError } from '../../base/errors.ts';
import type { Tool } from '../../core/runtime.ts';

const description = 'Stops a function that is running and telling what it finds.';

/** The tool by which a model stops a streaming tool. Without effect outside a live conversation. */
export const stopStreaming: Tool = {
  kind: 'tool',
  name: 'stop_streaming',
  description,
  declaration: {
    name: 'stop_streaming',
    description,
    parameters: {
      type: 'object',
      properties: { function_name: { type: 'string', description: 'Name of the function to stop.' } },
      required: ['function_name'],
    },
  },
};

/** The same in a live conversation; `stop` returns how many streams it stopped. */
export const stopStreamingTool = (stop: (name: string) => number): Tool => ({
  ...stopStreaming,
  run(args) {
    const name = args['function_name'] ?? args['functionName'];
    if (typeof name !== 'string' || stop(name) === 0)
      throw new AppError('tool_failed', `The function ${JSON.stringify(name)} is not running`);
    return { status: `"${name}" was stopped.` };
  },
});

export const isStreaming = (tool: Tool): tool is Tool & Required<Pick<Tool, 'stream'>> => tool.stream !== undefined;
