import type { JsonObject } from '../../base/json.ts';
import type { ModelRegistry } from '../../core/model.ts';
import { scriptedModel } from '../../models/scripted/scripted.ts';
import { textContent, textOf } from '../../schemas/content.ts';
import type { Script } from '../../schemas/script.ts';

/** A prompt for a judge model, or for the model of a simulated user. */
export interface ModelQuestion {
  readonly model: string;
  readonly prompt: string;
  readonly config?: JsonObject | undefined;
  /** Used when the model is `scripted`, or has no credentials here. */
  readonly script?: Script | undefined;
  /** The number of the sample: distinguishes equal questions. */
  readonly sample: number;
}

/** Returns the text of the answer. Throws when the call fails, or the model responds with an error. */
export type AskModel = (question: ModelQuestion, signal: AbortSignal) => Promise<string>;

/** Calls the models of a registry. */
export function askModels(models: ModelRegistry): AskModel {
  return async ({ model: name, prompt, config = {}, script }, signal) => {
    const isScripted = script !== undefined && (name === 'scripted' || !models.isConfigured(name));
    const model = isScripted ? scriptedModel(script) : models.resolve(name);
    const request = { model: name, contents: [textContent('user', prompt)], config: { ...config }, stream: false };
    let answer = '';
    for await (const response of model.generate(request, signal)) {
      if (response.errorCode !== undefined) {
        throw new Error(`model "${name}" answered ${response.errorCode}: ${response.errorMessage ?? ''}`);
      }
      if (!response.partial) answer += textOf(response.content);
    }
    return answer;
  };
}
