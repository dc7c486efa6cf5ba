import { type App, functionTool, llmAgent, type ToolContext } from 'agent-server';

// Tools as nobody should write them.

const state = { open: 0, aborted: 0, most: 0 };
const never = new Promise<never>(() => {});
const tool = (name: string, run: (args: object, ctx: ToolContext) => unknown, timeoutMs?: number) =>
  functionTool({ name, description: name, run, ...(timeoutMs !== undefined && { timeoutMs }) });

async function patient(_: object, { signal }: ToolContext): Promise<string> {
  state.open += 1;
  state.most = Math.max(state.most, state.open);
  await new Promise<void>((resolve) => {
    signal.addEventListener('abort', () => {
      state.aborted += 1;
      resolve();
    });
  });
  state.open -= 1;
  return 'late';
}

async function busy(): Promise<number> {
  state.open += 1;
  state.most = Math.max(state.most, state.open);
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  state.open -= 1;
  return state.most;
}

const circle: Record<string, unknown> = { name: 'circle' };
circle['self'] = circle;

export const app: App = {
  name: 'hostile',
  rootAgent: llmAgent({
    name: 'hostile',
    model: 'gemini-2.5-flash',
    tools: [
      tool('throws', () => {
        throw new TypeError('Broken inside');
      }),
      tool('rejects', () => Promise.reject(new Error('Broken later'))),
      tool('throws_text', () => {
        throw 'just text';
      }),
      tool('nothing', () => undefined),
      tool('null', () => null),
      tool('list', () => [1, 2]),
      tool('huge', () => ({ text: 'x'.repeat(5_000_000) })),
      tool('circle', () => circle),
      tool('odd', () => ({ big: 10n, when: new Date(0), how: () => 1, not: Number.NaN })),
      tool('never', () => never, 200),
      tool('deaf', () => never),
      tool('patient', patient, 200),
      tool('busy', busy),
      tool('stray', () => {
        setTimeout(() => void Promise.reject(new Error('A stray rejection')), 1);
        return 'ok';
      }),
      tool('counts', () => ({ ...state })),
    ],
  }),
};
