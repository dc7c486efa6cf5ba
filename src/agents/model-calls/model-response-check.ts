import { AppError } from '../../base/errors.ts';
import { jsonFault } from '../../base/json.ts';
import { ModelError, type ModelResponse } from '../../core/model.ts';
import type { MaybePromise } from '../../core/runtime.ts';
import type { Content, Part } from '../../schemas/content.ts';

/** Simple fields of a response, and their types. */
const plainFields: Readonly<Record<string, 'string' | 'boolean' | 'number'>> = {
  partial: 'boolean',
  turnComplete: 'boolean',
  interrupted: 'boolean',
  finishReason: 'string',
  errorCode: 'string',
  errorMessage: 'string',
  modelVersion: 'string',
  avgLogprobs: 'number',
};

/**
 * Checks the response of a model or hook before it becomes an event. A `null` counts as absent. Throws
 * GenAiFieldMissingException for a function call without a name, which no function response could answer, and
 * ModelError for a value that is no response or cannot become JSON. A promise only for a response of unusual form.
 */
export function checkedResponse(given: unknown): MaybePromise<ModelResponse> {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    throw malformed(`it gave ${given === null ? 'null' : Array.isArray(given) ? 'a list' : typeof given}`);
  }
  const response = given as ModelResponse;
  if (hasUsualForm(response)) return response;
  const fault = jsonFault(given);
  if (fault !== undefined) throw malformed(fault);
  if (!response.partial && hasNamelessCall(response.content)) {
    throw new AppError('GenAiFieldMissingException', 'The model called a function without naming it');
  }
  return readResponse(response);
}

/** Reads a response by the schema, which is loaded for the first one of unusual form. */
async function readResponse(response: ModelResponse): Promise<ModelResponse> {
  const { responseSchema } = await import('../../schemas/event-schema.ts');
  const read = responseSchema().safeParse(response);
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  throw malformed(issue ? `${issue.path.join('.')}: ${issue.message}` : 'it is no response');
}

/** Checks only the content of a chunk: chunks are sent and never stored. */
function hasUsualForm(response: ModelResponse): boolean {
  try {
    return response.partial === true ? isPlainContent(response.content) : isPlain(response);
  } catch {
    return false; // a property that throws: the closer look says so
  }
}

const malformed = (why: string): ModelError =>
  new ModelError('MODEL_ERROR', `The model gave an answer that cannot be read: ${why}`);

function hasNamelessCall(content: { parts?: unknown } | undefined | null): boolean {
  const parts = content?.parts;
  return Array.isArray(parts) && parts.some(isNamelessCall);
}

function isNamelessCall(part: unknown): boolean {
  if (typeof part !== 'object' || part === null || !('functionCall' in part || 'function_call' in part)) return false;
  const call = (part as Part).functionCall ?? (part as { function_call?: unknown }).function_call;
  if (call === undefined || call === null) return false;
  const name: unknown = typeof call === 'object' && 'name' in call ? call.name : undefined;
  return typeof name !== 'string' || name.trim() === '';
}

/** Whether a response has the usual form, so that the full check by zod is not needed. */
function isPlain(response: ModelResponse): boolean {
  for (const key in response) {
    const value: unknown = response[key as keyof ModelResponse];
    if (value === undefined) continue;
    if (key === 'content') {
      if (!isPlainContent(value)) return false;
    } else if (key === 'usageMetadata') {
      if (!isUsage(value)) return false;
    } else if (typeof value !== plainFields[key]) return false;
  }
  return true;
}

function isPlainContent(value: unknown): value is Content {
  if (typeof value !== 'object' || value === null) return false;
  const { role, parts } = value as Content;
  if (!(role === undefined || typeof role === 'string') || !Array.isArray(parts)) return false;
  for (const part of parts) if (!isPlainPart(part)) return false;
  return true;
}

function isPlainPart(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  for (const key in value) {
    const item: unknown = value[key as keyof typeof value];
    if (key === 'text' || key === 'thoughtSignature') {
      if (typeof item !== 'string') return false;
    } else if (key === 'thought') {
      if (typeof item !== 'boolean') return false;
    } else if (key !== 'functionCall' || !isPlainCall(item)) return false;
  }
  return true;
}

function isPlainCall(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  for (const key in value) {
    const item: unknown = value[key as keyof typeof value];
    if (key === 'id' || key === 'name') {
      if (typeof item !== 'string' || item.trim() === '') return false;
    } else if (key !== 'args' || !isArguments(item)) return false;
  }
  return 'name' in value;
}

const isArguments = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && jsonFault(value) === undefined;

function isUsage(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  for (const key in value) if (typeof value[key as keyof typeof value] !== 'number') return false;
  return true;
}

/** ADK's code for an empty model response. */
const noContent = 'MODEL_RETURNED_NO_CONTENT';

/**
 * Marks an empty response as an error, as ADK does: one without parts, or one that stopped with nothing but thoughts and
 * blanks.
 */
export function markedIfEmpty(response: ModelResponse): ModelResponse {
  if (response.partial || hasOtherOutput(response)) return response;
  const parts = response.content?.parts ?? [];
  if (parts.length > 0 && (response.finishReason !== 'STOP' || parts.some(isMeaningful))) return response;
  const why = parts.length > 0 ? 'thoughts and blanks only' : 'no content';
  return { ...response, errorCode: noContent, errorMessage: response.errorMessage ?? `The model returned ${why}` };
}

const isMeaningful = (part: Part): boolean =>
  part.functionCall !== undefined ||
  (!part.thought && (part.text === undefined ? hasPayload(part) : part.text.trim() !== ''));

function hasPayload(part: Part): boolean {
  for (const key in part) if (key !== 'text' && key !== 'thought' && key !== 'thoughtSignature') return true;
  return false;
}

/** Whether a response without content still has something to show. Usage alone does not count. */
export const hasOtherOutput = (response: ModelResponse): boolean =>
  response.errorCode !== undefined ||
  response.interrupted === true ||
  response.turnComplete === true ||
  response.inputTranscription !== undefined ||
  response.outputTranscription !== undefined ||
  response.groundingMetadata !== undefined;
