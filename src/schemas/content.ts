import { isJsonObject, type JsonObject } from '../base/json.ts';
import type { Content, FunctionCall, FunctionResponse, Part } from './content-schema.ts';
import { openFields } from './lenient.ts';

// What is read from a message. Its schema is a file of its own, so that agents load without zod's objects.
export type {
  Blob,
  CodeExecutionResult,
  Content,
  ExecutableCode,
  FileData,
  FunctionCall,
  FunctionResponse,
  Part,
} from './content-schema.ts';

/** What an adapter keeps with a part to hand it back as it came; Gemini has the field, too. Empty when there is none. */
export function partMetadata(part: Part): JsonObject {
  const metadata = openFields(part)['partMetadata'];
  return isJsonObject(metadata) ? metadata : {};
}

/** The part with such metadata. */
export function withMetadata(part: Part, metadata: JsonObject): Part {
  const open = { ...part, partMetadata: metadata };
  return open;
}

export const textPart = (text: string): Part => ({ text });

/** A content with one text part. */
export const textContent = (role: 'user' | 'model', text: string): Content => ({ role, parts: [{ text }] });

/** The visible text of a content: its text parts joined, thoughts left out. */
export function textOf(content: Content | undefined, separator = ''): string {
  const texts: string[] = [];
  for (const part of content?.parts ?? []) if (part.text !== undefined && !part.thought) texts.push(part.text);
  return texts.join(separator);
}

export function functionCallsOf(content: Content | undefined): FunctionCall[] {
  const calls: FunctionCall[] = [];
  for (const { functionCall } of content?.parts ?? []) if (functionCall) calls.push(functionCall);
  return calls;
}

export function functionResponsesOf(content: Content | undefined): FunctionResponse[] {
  const responses: FunctionResponse[] = [];
  for (const { functionResponse } of content?.parts ?? []) if (functionResponse) responses.push(functionResponse);
  return responses;
}
