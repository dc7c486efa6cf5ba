import {
  type App,
  contextFilterPlugin,
  filteredToolset,
  functionTool,
  globalInstructionPlugin,
  llmAgent,
  type Plugin,
  reflectAndRetryPlugin,
  type Toolset,
} from 'agent-server';

const tool = (name: string, run: () => unknown) => functionTool({ name, description: name, run });
const files: Toolset = {
  kind: 'toolset',
  name: 'files',
  getTools: () =>
    Promise.resolve([tool('read', () => 'read'), tool('write', () => 'written'), tool('wipe', () => 'gone')]),
  close: () => Promise.resolve(),
};
const noWriting: Plugin = {
  name: 'no_writing',
  beforeToolSelection: ({ tools, context }) =>
    context.state.get('locked') === true ? [...tools.keys()].filter((name) => name !== 'files_write') : undefined,
};

export const app: App = {
  name: 'plugged',
  plugins: [
    globalInstructionPlugin('Be kind to {name}.'),
    contextFilterPlugin({ invocationsToKeep: 2 }),
    reflectAndRetryPlugin({ maxRetries: 1 }),
    noWriting,
  ],
  rootAgent: llmAgent({
    name: 'plugged',
    model: 'gemini-2.5-flash',
    instruction: 'Work.',
    tools: [
      filteredToolset(files, { filter: ['read', 'write'], prefix: 'files' }),
      tool('fail', () => {
        throw new RangeError('Out of range');
      }),
    ],
  }),
};
