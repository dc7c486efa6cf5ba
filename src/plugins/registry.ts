import { didYouMean } from '../base/closest.ts';
import { AppError } from '../base/errors.ts';
import type { Plugin } from '../core/runtime.ts';
import { contextFilterPlugin } from './context-filter.ts';
import { type EventLog, loggingPlugin } from './logging.ts';
import { reflectAndRetryPlugin } from './reflect-and-retry.ts';
import { recordPlugin } from './replay/record.ts';
import { replayPlugin } from './replay/replay.ts';

export interface PluginEnvironment {
  readonly log: EventLog;
  /** Folder below which cassettes are written. */
  readonly recordRoot: string;
  /** Folder below which cassettes are read. */
  readonly replayRoot: string;
}

/** The built-in plugins that can be enabled by name, without options. */
const builtIn: Readonly<Record<string, (environment: PluginEnvironment) => Plugin>> = {
  logging_plugin: ({ log }) => loggingPlugin(log),
  context_filter_plugin: ({ log }) => contextFilterPlugin({ invocationsToKeep: 20, log }),
  reflect_retry_tool_plugin: () => reflectAndRetryPlugin(),
  record: ({ recordRoot }) => recordPlugin({ root: recordRoot }),
  replay: ({ replayRoot }) => replayPlugin({ root: replayRoot }),
};

/** The names that `pluginNamed` accepts. */
export const pluginNames: readonly string[] = Object.keys(builtIn);

/** Creates a built-in plugin. Throws ConfigurationException for an unknown name. */
export function pluginNamed(name: string, environment: PluginEnvironment): Plugin {
  const make = Object.hasOwn(builtIn, name) ? builtIn[name] : undefined;
  if (make) return make(environment);
  throw new AppError('ConfigurationException', `There is no plugin "${name}"${didYouMean(name, pluginNames)}`);
}
