import { AppError } from '../../base/errors.ts';
import type { ModelRequest, ToolEntry } from '../../core/model.ts';

/**
 * The major version of a Gemini model. Names without a version (`gemini-flash-latest`), tuned models behind an endpoint
 * and `scripted`, which stands for any model, count as the newest. `undefined`: another family.
 */
export function geminiMajor(model: string): number | undefined {
  if (model === 'scripted' || model.includes('/endpoints/')) return Infinity;
  const name = model.slice(model.lastIndexOf('/') + 1);
  if (!name.startsWith('gemini-')) return undefined;
  const version = /^gemini-(\d+)/.exec(name)?.[1];
  return version === undefined ? Infinity : Number(version);
}

/** Throws ConfigurationException unless the request's model is a Gemini model of at least that major version. */
export function requireGemini({ model }: ModelRequest, toolName: string, minMajor: number): number {
  const major = geminiMajor(model);
  if (major !== undefined && major >= minMajor) return major;
  const wanted = minMajor > 1 ? `a Gemini ${minMajor} or newer model` : 'a Gemini model';
  throw new AppError('ConfigurationException', `Tool "${toolName}" needs ${wanted}, not "${model}"`);
}

/** Throws ConfigurationException if the request has other tools: Gemini 1 accepts a built-in tool only alone. */
export function requireAlone({ model, config }: ModelRequest, toolName: string): void {
  if ((config.tools ?? []).length === 0) return;
  throw new AppError('ConfigurationException', `Tool "${toolName}" cannot be used with other tools on "${model}"`);
}

/** Adds a tool that the provider runs. */
export function addBuiltIn({ config }: ModelRequest, entry: ToolEntry): void {
  (config.tools ??= []).push(entry);
}
