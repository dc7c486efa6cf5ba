import type { JsonObject } from '../base/json.ts';
import type { GenerateConfig } from '../core/model.ts';

/** Gemini's `toolConfig.functionCallingConfig`: whether functions must be called (`ANY`), may not (`NONE`), and which. */
export function callingMode(config: GenerateConfig): { mode: string | undefined; names: string[] } {
  const calling = (config['toolConfig'] as JsonObject | undefined)?.['functionCallingConfig'] as JsonObject | undefined;
  const names = calling?.['allowedFunctionNames'];
  const mode = calling?.['mode'];
  return {
    mode: typeof mode === 'string' ? mode.toUpperCase() : undefined,
    names: Array.isArray(names) ? names.map(String) : [],
  };
}
