import { errorText } from '../base/errors.ts';
import { redact } from '../base/redact.ts';
import type { CallbackContext, Plugin, RunContext } from '../core/runtime.ts';
import { type Content, textOf } from '../schemas/content.ts';

/** What the plugin writes to; a pino logger fits. */
export interface EventLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
}

const maxText = 200;
const maxArguments = 300;

/** Logs every step of a run, texts cut short and secrets removed. */
export function loggingPlugin(log: EventLog): Plugin {
  return {
    name: 'logging_plugin',
    onUserMessage: (ctx, message) => log.info({ ...run(ctx), text: brief(message) }, 'user message'),
    beforeRun: (ctx) => log.info(run(ctx), 'run starts'),
    onEvent(ctx, event) {
      if (event.partial) return;
      log.info({ ...run(ctx), eventId: event.id, author: event.author, text: brief(event.content) }, 'event');
    },
    afterRun: (ctx) => log.info({ ...run(ctx), modelCalls: ctx.calls.count }, 'run ends'),
    onRunError: (ctx, error) => log.warn({ ...run(ctx), error: errorText(error) }, 'run failed'),
    beforeAgent: (ctx) => log.info(step(ctx), 'agent starts'),
    afterAgent: (ctx) => log.info(step(ctx), 'agent ends'),
    beforeModel: (request, ctx) =>
      log.info({ ...step(ctx), model: request.model, contents: request.contents.length }, 'model request'),
    afterModel(response, ctx) {
      if (response.partial) return;
      const { finishReason, errorCode, usageMetadata: usage } = response;
      log.info({ ...step(ctx), finishReason, errorCode, usage, text: brief(response.content) }, 'model response');
    },
    onModelError: (request, error, ctx) =>
      log.warn({ ...step(ctx), model: request.model, error: errorText(error) }, 'model failed'),
    beforeTool: (tool, args, ctx) =>
      log.info({ ...step(ctx), tool: tool.name, callId: ctx.functionCallId, args: cut(args) }, 'tool starts'),
    afterTool: (tool, _args, ctx, result) =>
      log.info({ ...step(ctx), tool: tool.name, callId: ctx.functionCallId, result: cut(result) }, 'tool ends'),
    onToolError: (tool, _args, ctx, error) =>
      log.warn({ ...step(ctx), tool: tool.name, callId: ctx.functionCallId, error: errorText(error) }, 'tool failed'),
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
