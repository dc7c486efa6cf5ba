import { askPlugin } from '../agents/hooks.ts';
import { abortable, delay } from '../base/abort.ts';
import { AppError, errorText } from '../base/errors.ts';
import type { MaybePromise, Plugin, RunContext } from '../core/runtime.ts';

/** Throws ConfigurationException when two plugins share a name. */
export function checkPluginNames(plugins: readonly Plugin[]): void {
  const seen = new Set<string>();
  for (const { name } of plugins) {
    if (seen.has(name)) throw new AppError('ConfigurationException', `Two plugins are named "${name}"`);
    seen.add(name);
  }
}

/** Asks the plugins in order and returns the first answer. A hook that throws ends the run, with its name in the message. */
export async function firstAnswer<T>(
  ctx: RunContext,
  hook: keyof Plugin,
  ask: (plugin: Plugin) => MaybePromise<T | undefined | void>,
): Promise<T | undefined> {
  for (const plugin of ctx.plugins) {
    const answer = await askPlugin(ctx, plugin, hook, () => ask(plugin));
    if (answer !== undefined && answer !== null) return answer;
  }
  return undefined;
}

/** Asks every plugin, whatever the others do, and returns what went wrong. */
export async function askAll(
  plugins: readonly Plugin[],
  ask: (plugin: Plugin) => MaybePromise<void>,
): Promise<unknown[]> {
  const failures: unknown[] = [];
  for (const plugin of plugins) {
    try {
      await ask(plugin);
    } catch (error) {
      failures.push(error);
    }
  }
  return failures;
}

/** Closes everything side by side, each within `limitMs`, and reports all failures as one error. */
export async function closeAll(
  closers: readonly { readonly name: string; close?(): Promise<void> }[],
  limitMs: number,
): Promise<void> {
  const outcomes = await Promise.allSettled(closers.map((closer) => closeOne(closer, limitMs)));
  const failures = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason as unknown] : []));
  if (failures.length > 0) throw new AggregateError(failures, failures.map(errorText).join('; '));
}

async function closeOne(closer: { readonly name: string; close?(): Promise<void> }, limitMs: number): Promise<void> {
  const limit = new AbortController();
  const done = new AbortController();
  const timer = delay(limitMs, done.signal).then(
    () => limit.abort(new AppError('timed_out', `"${closer.name}" did not close within ${limitMs} ms`)),
    () => {}, // closed in time
  );
  try {
    await abortable(Promise.resolve(closer.close?.()), limit.signal);
  } finally {
    done.abort();
    await timer;
  }
}
