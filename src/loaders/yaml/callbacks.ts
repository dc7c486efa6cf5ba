import type { LlmAgentSpec } from '../../agents/definition/llm-spec.ts';
import { AppError } from '../../base/errors.ts';
import type { CodeRef } from '../../schemas/agent-config.ts';
import { snakeCase } from '../../schemas/key-case.ts';
import type { YamlFile } from './document.ts';
import { Faults } from './faults.ts';
import { placed } from './placed.ts';
import type { Registry } from './registry.ts';

const options = [
  'beforeAgent',
  'afterAgent',
  'beforeModel',
  'afterModel',
  'onModelError',
  'beforeTool',
  'afterTool',
  'onToolError',
] as const satisfies readonly (keyof LlmAgentSpec)[];

type CallbackOption = (typeof options)[number];
type Callbacks = Pick<LlmAgentSpec, CallbackOption>;

/** The callbacks that a config names, as options of an agent. Throws ConfigurationException when one is not a function. */
export async function callbacksOf(
  config: Partial<Record<`${CallbackOption}Callbacks`, readonly CodeRef[] | undefined>>,
  { registry, file }: { registry: Registry; file: YamlFile },
): Promise<Callbacks> {
  const found: Record<string, unknown> = {};
  const faults = new Faults();
  for (const option of options) {
    const key = `${option}Callbacks` as const;
    const what = snakeCase(`${option}Callback`);
    const callbacks: unknown[] = [];
    for (const [index, { name }] of (config[key] ?? []).entries()) {
      const at = [key, index];
      callbacks.push(
        await faults.attempt(() => placed(file, at, () => callback(registry.get(name, what), name, what))),
      );
    }
    if (callbacks.length > 0) found[option] = callbacks;
  }
  faults.throwAny();
  // The signature of a registry function is not checked.
  return found;
}

function callback(found: unknown, name: string, what: string): unknown {
  if (typeof found === 'function') return found;
  throw new AppError('ConfigurationException', `Invalid ${what}: "${name}" is not a function`);
}
