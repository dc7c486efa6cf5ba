import { indexTree } from '../../agents/tree.ts';
import { AppError } from '../../base/errors.ts';
import type { App, Plugin } from '../../core/runtime.ts';
import type { AccessLimits } from '../../tools/access-limits.ts';
import type { AppSource } from '../app-source.ts';
import { metricsOf } from '../metrics-export.ts';
import { AgentFiles } from './agent-files.ts';
import { buildAgent } from './build-agent.ts';
import { placed } from './placed.ts';
import { loadRegistry } from './registry.ts';

export interface YamlAppOptions {
  /** Files in messages are named relative to this folder. */
  readonly base: string;
  /** Whether unknown keys are errors. */
  readonly strict: boolean;
  /** Whether MCP servers may be started as programs. */
  readonly allowStdioMcp: boolean;
  /** Limits of what the files may name. */
  readonly limits: AccessLimits;
  readonly warn: (message: string) => void;
  /** Called with each file before it is read. */
  readonly note: (file: string) => void;
  readonly importModule: (file: string) => Promise<Record<string, unknown>>;
  /** Texts that replace the files on disk, by path. */
  readonly overlay?: ReadonlyMap<string, string>;
}

/** The app of a `root_agent.yaml`. Its code comes only from the registry beside it. */
export async function yamlApp(source: AppSource, options: YamlAppOptions): Promise<Omit<App, 'name'>> {
  const { folder, entry } = source;
  const files = new AgentFiles({ folder, base: options.base, note: options.note, overlay: options.overlay });
  const root = await files.root(entry);
  const registry = await loadRegistry(folder, options);
  const rootAgent = await buildAgent(root, {
    files,
    registry,
    allowStdioMcp: options.allowStdioMcp,
    limits: options.limits,
    warn: options.strict ? undefined : options.warn,
    advise: options.warn,
  });
  await placed(root.yaml, ['subAgents'], () => indexTree(rootAgent));
  const plugins = pluginsOf(registry.exact('plugins'));
  const metrics = metricsOf(registry.exact('metrics'));
  return { rootAgent, ...(plugins.length > 0 && { plugins }), ...(metrics && { metrics }) };
}

function pluginsOf(exported: unknown): Plugin[] {
  if (exported === undefined) return [];
  const isPlugin = (value: unknown): value is Plugin =>
    typeof value === 'object' && value !== null && 'name' in value && typeof value.name === 'string';
  if (Array.isArray(exported) && exported.every(isPlugin)) return exported;
  throw new AppError('ConfigurationException', 'the export "plugins" must be a list of plugins, each with a name');
}
