import { AppError } from '../base/errors.ts';
import type { Model, ModelRegistry } from '../core/model.ts';
import { builtInModels } from './built-in-models.ts';
import type { Env, ModelRegistration } from './registration.ts';
import type { RetryOptions } from './retry.ts';
import { routedModel } from './routed.ts';

/** A registry that can be extended. */
export interface OpenModelRegistry extends ModelRegistry {
  /** Matching names are of this kind from now on; overrides earlier registrations. */
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

export interface ModelRegistryOptions {
  /** Keys and URLs of the providers. */
  readonly env: Env;
  readonly register?: readonly ModelRegistration[];
  /** Retries of the providers' models. */
  readonly retry?: RetryOptions | undefined;
}

/** The built-in and the registered models, by name; `a | b` is a model that calls `b` when `a` fails. */
export function createModelRegistry({ env, register = [], retry }: ModelRegistryOptions): OpenModelRegistry {
  /** Last registered first. */
  const entries = [...builtInModels(env, retry), ...register].map(entryOf).toReversed();
  /** Least recently used first. */
  const instances = new Map<string, Model>();
  const find = (name: string): Entry | undefined => entries.find((entry) => entry.whole.test(name));

  const alternatives = (name: string): string[] => name.split('|').map((one) => one.trim());
  const isConfigured = (name: string): boolean => find(name)?.isConfigured?.(name) ?? false;

  const create = (name: string): Model => {
    const names = alternatives(name);
    if (names.length > 1) {
      const models = names.map(create);
      const worthCalling = models.filter((model) => isConfigured(model.name));
      return routedModel({ name, models: worthCalling.length > 0 ? worthCalling : models });
    }
    const entry = find(name);
    if (!entry) throw new AppError('ConfigurationException', `Unsupported model "${name}"`);
    return entry.create(name);
  };

  return {
    resolve(name) {
      let model = instances.get(name);
      if (!model) {
        model = create(name);
      }
      instances.delete(name);
      instances.set(name, model);
      const [oldest] = instances.keys();
      if (instances.size > KEPT_INSTANCES && oldest !== undefined) instances.delete(oldest);
      return model;
    },
    isConfigured: (name) => alternatives(name).some(isConfigured),
    register(registration) {
      entries.unshift(entryOf(registration));
      instances.clear();
    },
  };
}
