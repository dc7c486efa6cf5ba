import { AppError, errorText } from '../base/errors.ts';
import type { MaybePromise, Plugin, RunContext } from '../core/runtime.ts';

/** The hooks that both plugins and agents have. */
export type HookName =
  | 'beforeAgent'
  | 'afterAgent'
  | 'beforeModel'
  | 'afterModel'
  | 'onModelError'
  | 'beforeTool'
  | 'afterTool'
  | 'onToolError';

export type Hook<Name extends keyof Plugin> = NonNullable<Plugin[Name]>;

/** Whether anybody listens; when not, no context has to be made for them. */
export function hasHook(ctx: RunContext, name: keyof Plugin, own?: readonly unknown[]): boolean {
  if (own !== undefined && own.length > 0) return true;
  for (const plugin of ctx.plugins) if (plugin[name] !== undefined) return true;
  return false;
}

/** Asks the plugins in order, then the agent's own callbacks; the first answer wins and the rest is not asked. */
export async function firstAnswer<Name extends HookName, Answer>(
  ctx: RunContext,
  name: Name,
  own: readonly Hook<Name>[] | undefined,
  ask: (hook: Hook<Name>) => MaybePromise<Answer | undefined | void>,
): Promise<Answer | undefined> {
  for (const plugin of ctx.plugins) {
    const hook = plugin[name];
    if (hook === undefined) continue;
    const answer = await askPlugin(ctx, plugin, name, () => ask(hook.bind(plugin) as Hook<Name>));
    if (answer !== undefined && answer !== null) return answer;
  }
  for (const hook of own ?? []) {
    const answer = await ask(hook);
    if (answer !== undefined && answer !== null) return answer;
  }
  return undefined;
}

/** Runs a hook of a plugin; what it throws is wrapped so that the message names both. */
export async function askPlugin<Answer>(
  ctx: RunContext,
  plugin: Plugin,
  name: keyof Plugin,
  ask: () => MaybePromise<Answer>,
): Promise<Answer> {
  try {
    return await ask();
  } catch (error) {
    ctx.signal.throwIfAborted();
    const code = error instanceof AppError ? error.code : 'internal';
    throw new AppError(code, `Plugin "${plugin.name}" failed in ${name}: ${errorText(error)}`, { cause: error });
  }
}
