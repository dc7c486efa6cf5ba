import {
  type AfterToolParams,
  type App,
  type BeforeToolParams,
  type CallbackContext,
  type Content,
  functionTool,
  llmAgent,
  type ModelResponse,
  type OnModelErrorParams,
  type Plugin,
  type RunContext,
} from 'agent-server';

// A plugin pair and an agent that note every hook they are asked for in the log of the session, and answer those
// that the message names: "say beforeModel of second". The message "log" is answered with the log.

const logs = new Map<string, string[]>();
const said = (content: Content | undefined): string => content?.parts[0]?.text ?? '';
const text = (words: string): Content => ({ role: 'model', parts: [{ text: words }] });

function note(ctx: RunContext | CallbackContext, who: string, hook: string, content = ctx.userContent): boolean {
  const log = logs.get(ctx.session.id) ?? [];
  logs.set(ctx.session.id, log);
  log.push(`${who} ${hook}`);
  const message = said(content);
  if (message.includes(`throw ${hook} of ${who};`)) throw new Error(`No ${hook}`);
  return message.includes(`say ${hook} of ${who};`);
}

type Around = { readonly context: CallbackContext };

const hooks = (who: string) => ({
  beforeAgent: ({ context }: Around) => (note(context, who, 'beforeAgent') ? text(`${who} agent`) : undefined),
  afterAgent: ({ context }: Around) => (note(context, who, 'afterAgent') ? text(`${who} added`) : undefined),
  beforeModel: ({ context }: Around): ModelResponse | undefined =>
    note(context, who, 'beforeModel') ? { content: text(`${who} model`) } : undefined,
  afterModel: ({ context }: Around): ModelResponse | undefined =>
    note(context, who, 'afterModel') ? { content: text(`${who} replaced`) } : undefined,
  onModelError: ({ error, context }: OnModelErrorParams): ModelResponse | undefined =>
    note(context, who, 'onModelError') && error instanceof Error ? { content: text(`${who} mended`) } : undefined,
  beforeTool: ({ args, context }: BeforeToolParams) => {
    Object.assign(args, { by: who });
    return note(context, who, 'beforeTool') ? { early: who } : undefined;
  },
  afterTool: ({ context, result }: AfterToolParams) =>
    note(context, who, 'afterTool') ? { ...result, after: who } : undefined,
  onToolError: ({ context }: Around) => (note(context, who, 'onToolError') ? { mended: who } : undefined),
});

const plugin = (name: string): Plugin => ({
  name,
  ...hooks(name),
  onUserMessage: ({ userMessage, context }) =>
    note(context, name, 'onUserMessage', userMessage)
      ? { role: 'user', parts: [{ text: 'something else' }] }
      : undefined,
  beforeRun({ context }) {
    if (said(context.userContent) === 'log') return text(logs.get(context.session.id)?.join('\n') ?? '');
    return note(context, name, 'beforeRun') ? text(`${name} run`) : undefined;
  },
  onEvent({ event, context }) {
    if (said(context.userContent) === 'log') return undefined;
    return note(context, name, 'onEvent') ? { ...event, content: text(`${name} event`) } : undefined;
  },
  afterRun({ context }) {
    if (said(context.userContent) !== 'log') note(context, name, 'afterRun');
  },
  onRunError: ({ context }) => void note(context, name, 'onRunError'),
});

const touch = functionTool({
  name: 'touch',
  description: 'Touches.',
  parameters: { type: 'object' },
  run: (args, ctx) => {
    note(ctx, 'tool', 'run');
    return args;
  },
});

const own = hooks('own');

export const app: App = {
  name: 'hooked',
  plugins: [plugin('first'), plugin('second')],
  rootAgent: llmAgent({
    name: 'hooked',
    model: 'gemini-2.5-flash',
    tools: [touch],
    ...own,
    afterModel: [own.afterModel, hooks('later').afterModel],
  }),
};
