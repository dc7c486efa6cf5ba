import { builtInPlanner, type Planner, planReActPlanner } from '../../agents/definition/planners.ts';
import { AppError } from '../../base/errors.ts';
import type { PlannerConfig } from '../../schemas/agent-config.ts';
import { ThinkingConfig } from '../../schemas/generate-content-config.ts';
import { anyCaseObject } from '../../schemas/key-case.ts';
import { check } from './check.ts';
import type { YamlFile } from './document.ts';
import { placed } from './placed.ts';
import type { Registry } from './registry.ts';

const NoArgs = anyCaseObject({});
const BuiltInArgs = anyCaseObject({ thinkingConfig: ThinkingConfig });

/** The planner of an agent: built-in, or from the app's registry. Throws ConfigurationException with the location. */
export async function plannerOf(config: PlannerConfig, file: YamlFile, registry: Registry): Promise<Planner> {
  const { name, args } = config;
  const own = registry.exact(name);
  const at = ['planner', 'args'];
  const simple = name.slice(name.lastIndexOf('.') + 1);
  if (own === undefined && /^PlanReActPlanner$|^plan_?re_?act$/i.test(simple)) {
    check(NoArgs, args ?? {}, file, { at });
    return planReActPlanner();
  }
  if (own === undefined && /^BuiltInPlanner$|^built_in$/i.test(simple)) {
    return builtInPlanner(check(BuiltInArgs, args ?? {}, file, { at }));
  }
  return await placed(file, ['planner'], async () => {
    const found = own ?? registry.get(name, 'planner');
    const made: unknown = typeof found === 'function' ? await found(args ?? {}) : found;
    if (isPlanner(made) && (args === undefined || typeof found === 'function')) return made;
    throw new AppError('ConfigurationException', `"${name}" is not a planner${args ? ' that takes args' : ''}`);
  });
}

function isPlanner(value: unknown): value is Planner {
  if (typeof value !== 'object' || value === null) return false;
  return ['thinkingConfig', 'instruction', 'readAnswer'].some((key) => key in value);
}
