import { AppError } from '../base/errors.ts';
import type { Model, ModelRegistry } from '../core/model.ts';
import { builtInModels } from './built-in-models.ts';
import type { Env, ModelRegistration } from './registration.ts';

/** A registry that can be added to. */
export interface OpenModelRegistry extends ModelRegistry {
  /** Names that fit are this kind's from now on, whatever was registered before. */
  register(registration: ModelRegistration): void;
}

interface Entry extends ModelRegistration {
  readonly whole: RegExp;
}

const KEPT_INSTANCES = 64;

const entryOf = (registration: ModelRegistration): Entry => {
  const { pattern } = registration;
  const [source, flags] = typeof pattern === 'string' ? [pattern, ''] : [pattern.source, pattern.flags];
  return {
    ...registration,
    create: (name) => registration.create(name),
    isConfigured: (name) => registration.isConfigured?.(name) ?? true,
    whole: new RegExp(`^(?:${source})$`, flags.replaceAll(/[gy]/g, '')),
  };
};

/** The models that come with the server, and those registered, by name. `env` holds keys and addresses. */
export function createModelRegistry({
  env,
  register = [],
}: {
  readonly env: Env;
  readonly register?: readonly ModelRegistration[];
}): OpenModelRegistry {
  /** Last registered first. */
  const entries = [...builtInModels(env), ...register].map(entryOf).toReversed();
  /** Least recently used first. */
  const instances = new Map<string, Model>();
  const find = (name: string): Entry | undefined => entries.find((entry) => entry.whole.test(name));

  return {
    resolve(name) {
      let model = instances.get(name);
      if (!model) {
        const entry = find(name);
        if (!entry) throw new AppError('ConfigurationException', `Unsupported model "${name}"`);
        model = entry.create(name);
      }
      instances.delete(name);
      instances.set(name, model);
      const [oldest] = instances.keys();
      if (instances.size > KEPT_INSTANCES && oldest !== undefined) instances.delete(oldest);
      return model;
    },
    isConfigured: (name) => find(name)?.isConfigured?.(name) ?? false,
    register(registration) {
      entries.unshift(entryOf(registration));
      instances.clear();
    },
  };
}
