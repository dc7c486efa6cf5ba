import type { JsonObject } from '../../base/json.ts';
import type { ModelRegistry } from '../../core/model.ts';
import { scriptedModel } from '../../models/scripted.ts';
import { textContent, textOf } from '../../schemas/content.ts';
import type { Script } from '../../schemas/script.ts';

/** A question to a model that judges, or that plays the user. */
export interface ModelQuestion {
  readonly model: string;
  readonly prompt: string;
  readonly config?: JsonObject | undefined;
  /** Answers when the model is `scripted`, or has no credentials here. */
  readonly script?: Script | undefined;
  /** Tells apart questions that are the same: the number of the sample. */
  readonly sample: number;
}

/** Gives the text of the answer. Throws when the model cannot be asked, or answers with an error. */
export type AskModel = (question: ModelQuestion, signal: AbortSignal) => Promise<string>;

/** Asks the models of a registry. */
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
