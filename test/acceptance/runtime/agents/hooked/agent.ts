import {
  type App,
  type CallbackContext,
  type Content,
  functionTool,
  llmAgent,
  type ModelResponse,
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

const hooks = (who: string) => ({
  beforeAgent: (ctx: CallbackContext) => (note(ctx, who, 'beforeAgent') ? text(`${who} agent`) : undefined),
  afterAgent: (ctx: CallbackContext) => (note(ctx, who, 'afterAgent') ? text(`${who} added`) : undefined),
  beforeModel: (_: unknown, ctx: CallbackContext): ModelResponse | undefined =>
    note(ctx, who, 'beforeModel') ? { content: text(`${who} model`) } : undefined,
  afterModel: (_: unknown, ctx: CallbackContext): ModelResponse | undefined =>
    note(ctx, who, 'afterModel') ? { content: text(`${who} replaced`) } : undefined,
  onModelError: (_: unknown, error: unknown, ctx: CallbackContext): ModelResponse | undefined =>
    note(ctx, who, 'onModelError') && error instanceof Error ? { content: text(`${who} mended`) } : undefined,
  beforeTool: (_: unknown, args: object, ctx: CallbackContext) => {
    Object.assign(args, { by: who });
    return note(ctx, who, 'beforeTool') ? { early: who } : undefined;
  },
  afterTool: (_: unknown, __: unknown, ctx: CallbackContext, result: object) =>
    note(ctx, who, 'afterTool') ? { ...result, after: who } : undefined,
  onToolError: (_: unknown, __: unknown, ctx: CallbackContext) =>
    note(ctx, who, 'onToolError') ? { mended: who } : undefined,
});

const plugin = (name: string): Plugin => ({
  name,
  ...hooks(name),
  onUserMessage: (ctx, message) =>
    note(ctx, name, 'onUserMessage', message) ? { role: 'user', parts: [{ text: 'something else' }] } : undefined,
  beforeRun(ctx) {
    if (said(ctx.userContent) === 'log') return text(logs.get(ctx.session.id)?.join('\n') ?? '');
    return note(ctx, name, 'beforeRun') ? text(`${name} run`) : undefined;
  },
  onEvent(ctx, event) {
    if (said(ctx.userContent) === 'log') return undefined;
    return note(ctx, name, 'onEvent') ? { ...event, content: text(`${name} event`) } : undefined;
  },
  afterRun(ctx) {
    if (said(ctx.userContent) !== 'log') note(ctx, name, 'afterRun');
  },
  onRunError: (ctx) => void note(ctx, name, 'onRunError'),
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
