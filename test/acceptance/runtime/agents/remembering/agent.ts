import { type App, functionTool, llmAgent } from 'agent-server';

const model = 'gemini-2.5-flash';
const save = functionTool({
  name: 'save',
  description: 'Saves.',
  parameters: { type: 'object', properties: { value: { type: 'string' } } },
  async run({ value }, ctx) {
    ctx.state.set('value', value);
    ctx.state.set('user:shared', value);
    await ctx.saveArtifact('file.txt', { text: String(value) });
    return { saved: value };
  },
});

export const app: App = {
  name: 'remembering',
  rootAgent: llmAgent({ name: 'remembering', model, instruction: 'Remember.', tools: [save] }),
  runConfig: { autoCreateSession: false },
};
