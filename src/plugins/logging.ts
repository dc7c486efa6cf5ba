import { errorText } from '../base/errors.ts';
import { redact } from '../base/redact.ts';
import type { CallbackContext, Plugin, RunContext } from '../core/runtime.ts';
import { type Content, textOf } from '../schemas/content.ts';

/** The logger that the plugin writes to, for example pino. */
export interface EventLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
}

const maxText = 200;
const maxArguments = 300;

/** Logs every step of a run, with texts shortened and secrets removed. */
export function loggingPlugin(log: EventLog): Plugin {
  return {
    name: 'logging_plugin',
    onUserMessage: ({ userMessage, context }) =>
      log.info({ ...run(context), text: brief(userMessage) }, 'user message'),
    beforeRun: ({ context }) => log.info(run(context), 'run starts'),
    onEvent({ event, context }) {
      if (event.partial) return;
      log.info({ ...run(context), eventId: event.id, author: event.author, text: brief(event.content) }, 'event');
    },
    afterRun: ({ context }) => log.info({ ...run(context), modelCalls: context.calls.count }, 'run ends'),
    onRunError: ({ error, context }) => log.warn({ ...run(context), error: errorText(error) }, 'run failed'),
    beforeAgent: ({ context }) => log.info(step(context), 'agent starts'),
    afterAgent: ({ context }) => log.info(step(context), 'agent ends'),
    beforeModel: ({ request, context }) =>
      log.info({ ...step(context), model: request.model, contents: request.contents.length }, 'model request'),
    afterModel({ response, context }) {
      if (response.partial) return;
      const { finishReason, errorCode, usageMetadata: usage } = response;
      log.info({ ...step(context), finishReason, errorCode, usage, text: brief(response.content) }, 'model response');
    },
    onModelError: ({ request, error, context }) =>
      log.warn({ ...step(context), model: request.model, error: errorText(error) }, 'model failed'),
    beforeTool: ({ tool, args, context }) =>
      log.info({ ...step(context), tool: tool.name, callId: context.functionCallId, args: cut(args) }, 'tool starts'),
    afterTool: ({ tool, context, result }) =>
      log.info({ ...step(context), tool: tool.name, callId: context.functionCallId, result: cut(result) }, 'tool ends'),
    onToolError: ({ tool, context, error }) =>
      log.warn(
        { ...step(context), tool: tool.name, callId: context.functionCallId, error: errorText(error) },
        'tool failed',
      ),
  };
}

const run = (ctx: RunContext): object => ({
  app: ctx.app.name,
  sessionId: ctx.session.id,
  invocationId: ctx.invocationId,
});
const step = (ctx: CallbackContext): object => ({ ...run(ctx.run), agent: ctx.agentName });
const brief = (content: Content | undefined): string => redact(textOf(content)).slice(0, maxText);
const cut = (value: unknown): string => redact(JSON.stringify(value) ?? '').slice(0, maxArguments);
