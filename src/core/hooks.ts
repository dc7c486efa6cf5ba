import { AppError, causedBy, errorText } from '../base/errors.ts';
import type { Event } from '../schemas/event.ts';
import type { Session } from '../schemas/session.ts';
import type { MaybePromise, Plugin, RunContext } from './runtime.ts';

// The one place that calls the hooks of plugins and the callbacks of agents: order, which result counts, what a failing
// hook becomes, and what `onEvent` may replace are decided here. Callers ask `hasHook` first where a run is hot: the
// object a hook gets is only made when there is a hook.

/** The members of a plugin that are hooks. */
export type HookName = Exclude<keyof Plugin, 'name' | 'appliesTo' | 'close'>;
type HookOf<Name extends HookName> = NonNullable<Plugin[Name]>;
type ParamsOf<Name extends HookName> = Parameters<HookOf<Name>>[0];
type ResultOf<Name extends HookName> = NonNullable<Exclude<Awaited<ReturnType<HookOf<Name>>>, void>>;

type AroundName = 'aroundModel' | 'aroundTool';
type NextOf<Name extends AroundName> = ParamsOf<Name>['next'];
/** Hooks of which every plugin's is called, and whose results are not looked at. */
type ObserverName = 'afterRun' | 'onRunError';

/** The plugins that take part in a run on this session. What `appliesTo` throws names the plugin, as for every hook. */
export function pluginsFor(session: Session, plugins: readonly Plugin[]): Plugin[] {
  return plugins.filter((plugin) => {
    try {
      return plugin.appliesTo?.({ session }) ?? true;
    } catch (error) {
      throw hookFailure(plugin, 'appliesTo', error);
    }
  });
}

/** Whether a plugin, or the agent with its own callbacks, has this hook. */
export function hasHook(ctx: RunContext, name: HookName, own?: readonly unknown[]): boolean {
  if (own !== undefined && own.length > 0) return true;
  for (const plugin of ctx.plugins) if (plugin[name] !== undefined) return true;
  return false;
}

/** Calls the hook of the plugins in registration order, then the agent's own callbacks, and returns the first result that is not empty. */
export async function firstResult<Name extends HookName>(
  ctx: RunContext,
  name: Name,
  params: ParamsOf<Name>,
  own: readonly HookOf<Name>[] = [],
): Promise<ResultOf<Name> | undefined> {
  for (const plugin of ctx.plugins) {
    if (plugin[name] === undefined) continue;
    const result = await callHook(ctx, plugin, name, params);
    if (result !== undefined) return result;
  }
  for (const callback of own) {
    const result = await (callback as AnyHook<Name>)(params);
    if (result !== undefined && result !== null) return result;
  }
  return undefined;
}

/** Calls the hook of every plugin, whatever the others do, and returns what went wrong. */
export async function callAll<Name extends ObserverName>(
  ctx: RunContext,
  name: Name,
  params: ParamsOf<Name>,
): Promise<AppError[]> {
  const failures: AppError[] = [];
  for (const plugin of ctx.plugins) {
    try {
      await hookOf(plugin, name)?.call(plugin, params);
    } catch (error) {
      failures.push(hookFailure(plugin, name, error));
    }
  }
  return failures;
}

/** Calls one plugin's hook. What it throws is wrapped in an AppError that names the plugin and the hook; an abort of the run is not. */
export async function callHook<Name extends HookName>(
  ctx: RunContext,
  plugin: Plugin,
  name: Name,
  params: ParamsOf<Name>,
): Promise<ResultOf<Name> | undefined> {
  try {
    return (await hookOf(plugin, name)?.call(plugin, params)) ?? undefined;
  } catch (error) {
    ctx.signal.throwIfAborted();
    throw hookFailure(plugin, name, error);
  }
}

/**
 * Calls `innermost` with the plugins' middleware around it, the first plugin outermost. What it throws may be the
 * model's or the tool's as well as a plugin's, and is not wrapped.
 */
export function callAround<Name extends AroundName>(
  ctx: RunContext,
  name: Name,
  params: Omit<ParamsOf<Name>, 'next'>,
  innermost: NextOf<Name>,
): ReturnType<NextOf<Name>> {
  let call = innermost as () => ReturnType<NextOf<Name>>;
  for (const plugin of ctx.plugins.toReversed()) {
    const hook = plugin[name] as ((params: unknown) => ReturnType<NextOf<Name>>) | undefined;
    if (hook === undefined) continue;
    const next = call;
    call = () => hook.call(plugin, { ...params, next });
  }
  return call();
}

/**
 * The event as the plugins' `onEvent` wants it, in a run and in an agent that is used as a tool alike. A replacement keeps
 * the `id`, `invocationId` and `timestamp` of its event, and its author and branch unless it names others.
 */
export async function reviewEvent(ctx: RunContext, event: Event): Promise<Event> {
  const replacement = await firstResult(ctx, 'onEvent', { event, context: ctx });
  if (replacement === undefined) return event;
  const { id, invocationId, timestamp, author, branch } = event;
  return {
    ...replacement,
    id,
    invocationId,
    timestamp,
    author: replacement.author || author,
    ...(branch === undefined ? {} : { branch: replacement.branch ?? branch }),
  };
}

// A hook as a function of its name: TypeScript does not see on its own that `plugin[name]` takes `ParamsOf<Name>`.
type AnyHook<Name extends HookName> = (params: ParamsOf<Name>) => MaybePromise<ResultOf<Name> | null | undefined>;

const hookOf = <Name extends HookName>(plugin: Plugin, name: Name): AnyHook<Name> | undefined =>
  plugin[name] as AnyHook<Name> | undefined;

function hookFailure({ name: plugin }: Plugin, hook: keyof Plugin, error: unknown): AppError {
  const code = error instanceof AppError ? error.code : 'internal';
  const what = `Plugin "${plugin}" failed in ${hook}`;
  return new AppError(code, `${what}: ${errorText(error)}`, causedBy(error, what));
}
