import { AppError } from '../base/errors.ts';
import type { Agent, App } from '../core/runtime.ts';
import { checkRunConfig } from '../schemas/run.ts';
import { metricsOf } from './metrics-export.ts';

/** Exports that may hold the app or its root agent, in order of preference. */
const exported = ['app', 'rootAgent', 'default'];

/**
 * The app that a module exports: `app` (an App), `rootAgent` (an agent), or a function that returns one of them. Throws
 * ConfigurationException without one.
 */
export async function appOf(module: Record<string, unknown>): Promise<Omit<App, 'name'>> {
  for (const name of exported) {
    const found = module[name];
    if (found === undefined) continue;
    const made: unknown = typeof found === 'function' ? await found() : await found;
    const metrics = metricsOf(module['metrics']);
    if (isAgent(made)) return { rootAgent: made, ...(metrics && { metrics }) };
    if (isApp(made)) checkRunConfig('the app', made.runConfig);
    if (isApp(made)) return metrics ? { ...made, metrics: { ...made.metrics, ...metrics } } : made;
    throw new AppError(
      'ConfigurationException',
      `the export "${name}" is neither an agent nor an app (make one with llmAgent({ … }), or return it from a function)`,
    );
  }
  const names = Object.keys(module);
  const found = names.length > 0 ? `it exports ${names.map((name) => `"${name}"`).join(', ')}` : 'it exports nothing';
  throw new AppError('ConfigurationException', `no export is called "rootAgent" or "app" (${found})`);
}

export function isAgent(value: unknown): value is Agent {
  return (
    typeof value === 'object' &&
    value !== null &&
    'name' in value &&
    typeof value.name === 'string' &&
    'run' in value &&
    typeof value.run === 'function'
  );
}

function isApp(value: unknown): value is App {
  return typeof value === 'object' && value !== null && 'rootAgent' in value && isAgent(value.rootAgent);
}
