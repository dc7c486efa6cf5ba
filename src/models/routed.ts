import { AppError } from '../base/errors.ts';
import { type Model, ModelError, type ModelRequest, type ModelResponse } from '../core/model.ts';

/** Several models behind one name. */
export interface RoutedModelOptions {
  readonly name?: string;
  /** In order of preference. */
  readonly models: readonly Model[];
  /** Names of the models for this request, in order of preference. Default: all, in their order. */
  readonly router?: (
    request: ModelRequest,
    signal: AbortSignal,
  ) => string | readonly string[] | Promise<string | readonly string[]>;
}

/**
 * A model that calls others: the next model is called when one fails. After its first response, a model is not replaced.
 * Each change is reported to `request.onRetry`.
 */
export function routedModel({ models, router, name = nameOf(models) }: RoutedModelOptions): Model {
  if (models.length === 0) throw new AppError('ConfigurationException', 'A routed model needs at least one model');
  async function* generate(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelResponse, void, void> {
    const chosen = router ? [await router(request, signal)].flat().map((one) => findModel(models, one)) : models;
    for (const [at, model] of chosen.entries()) {
      let begun = false;
      try {
        for await (const response of model.generate({ ...request, model: model.name }, signal)) {
          begun = true;
          yield response;
        }
        return;
      } catch (error) {
        if (begun || signal.aborted || at + 1 >= chosen.length || !(error instanceof ModelError)) throw error;
        request.onRetry?.({ attempt: at + 1, delayMs: 0, error });
      }
    }
  }
  return { name, generate };
}

const nameOf = (models: readonly Model[]): string => models.map((model) => model.name).join(' | ');

function findModel(models: readonly Model[], name: string): Model {
  const model = models.find((one) => one.name === name);
  if (!model) throw new AppError('ConfigurationException', `The router chose "${name}", which is not among its models`);
  return model;
}
