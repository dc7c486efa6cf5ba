import { abortable, delay } from '../base/abort.ts';
import { AppError, errorText } from '../base/errors.ts';
import type { Plugin } from '../core/runtime.ts';

/** Throws ConfigurationException when two plugins share a name. */
export function checkPluginNames(plugins: readonly Plugin[]): void {
  const seen = new Set<string>();
  for (const { name } of plugins) {
    if (seen.has(name)) throw new AppError('ConfigurationException', `Two plugins are named "${name}"`);
    seen.add(name);
  }
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
