import { didYouMean } from '../base/closest.ts';
import { AppError } from '../base/errors.ts';
import type { Plugin } from '../core/runtime.ts';
import { contextFilterPlugin } from './context-filter.ts';
import { type EventLog, loggingPlugin } from './logging.ts';
import { reflectAndRetryPlugin } from './reflect-and-retry.ts';
import { recordPlugin } from './replay/record.ts';
import { replayPlugin } from './replay/replay.ts';

export interface PluginSurroundings {
  readonly log: EventLog;
  /** Folder below which cassettes are written. */
  readonly recordRoot: string;
  /** Folder below which cassettes are read. */
  readonly replayRoot: string;
}

/** The shipped plugins that can be switched on by name, without options. */
const shipped: Readonly<Record<string, (surroundings: PluginSurroundings) => Plugin>> = {
  logging_plugin: ({ log }) => loggingPlugin(log),
  context_filter_plugin: ({ log }) => contextFilterPlugin({ invocationsToKeep: 20, log }),
  reflect_retry_tool_plugin: () => reflectAndRetryPlugin(),
  record: ({ recordRoot }) => recordPlugin({ root: recordRoot }),
  replay: ({ replayRoot }) => replayPlugin({ root: replayRoot }),
};

/** Names that `pluginNamed` knows. */
export const pluginNames: readonly string[] = Object.keys(shipped);

/** Makes a shipped plugin. Throws ConfigurationException for an unknown name. */
export function pluginNamed(name: string, surroundings: PluginSurroundings): Plugin {
  const make = Object.hasOwn(shipped, name) ? shipped[name] : undefined;
  if (make) return make(surroundings);
  throw new AppError('ConfigurationException', `There is no plugin "${name}"${didYouMean(name, pluginNames)}`);
}
