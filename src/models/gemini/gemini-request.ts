import type { Content as GeminiContent, GenerateContentParameters, Part as GeminiPart, Tool } from '@google/genai';
import type { JsonObject } from '../../base/json.ts';
import type { FunctionDeclaration, GenerateConfig, ModelRequest } from '../../core/model.ts';
import type { Content, Part } from '../../schemas/content.ts';
import { BEGIN, CONTINUE } from '../paired-turns.ts';
import { toGeminiSchema } from './gemini-schema.ts';

/** Which of Google's two services gets the request: their formats differ slightly. */
export interface GeminiService {
  readonly vertex: boolean;
}

const CALL_ID_OF_OURS = 'adk-';
const payloads = [
  'text',
  'inlineData',
  'fileData',
  'functionCall',
  'functionResponse',
  'executableCode',
  'codeExecutionResult',
  'toolCall',
  'toolResponse',
];

/** The request in the format of Google's SDK. A copy: the SDK cannot change the original. */
export function toGeminiRequest(request: ModelRequest, service: GeminiService): GenerateContentParameters {
  return {
    model: request.model,
    contents: toGeminiContents(request.contents, service),
    config: toGeminiConfig(request.config, service),
  };
}

/**
 * The history in a form that Gemini accepts: no empty content, roles `user` and `model` only, a user turn at the end and
 * before each turn with calls. Where an agent continued without a user message, as in a loop, that turn is inserted.
 */
export function toGeminiContents(contents: readonly Content[], service: GeminiService): GeminiContent[] {
  const turns = toGeminiTurns(contents, service);
  endWithUser(turns);
  return turns;
}

/** The same without the user turn at the end. */
export function toGeminiTurns(contents: readonly Content[], service: GeminiService): GeminiContent[] {
  const turns: GeminiContent[] = [];
  for (const content of contents) {
    const parts = content.parts.flatMap((part) => toGeminiPart(part, service));
    if (parts.length === 0) continue;
    const role = content.role === 'model' ? 'model' : 'user';
    if (role === 'model' && parts.some(({ functionCall }) => functionCall)) endWithUser(turns);
    turns.push({ role, parts });
  }
  return turns;
}

function endWithUser(turns: GeminiContent[]): void {
  if (turns.at(-1)?.role === 'user') return;
  turns.push({ role: 'user', parts: [{ text: turns.length === 0 ? BEGIN : CONTINUE }] });
}

function toGeminiPart(part: Part, service: GeminiService): GeminiPart[] {
  const copy: JsonObject = { ...part };
  if (part.functionCall) {
    const { partialArgs: _partial, willContinue: _open, ...call } = part.functionCall;
    copy['functionCall'] = withoutOurId(call);
  }
  if (part.functionResponse) copy['functionResponse'] = withoutOurId(part.functionResponse);
  if (!service.vertex) dropDisplayNames(copy);
  if (payloads.every((name) => copy[name] === undefined)) {
    // A signature may come without content, but Gemini requires a content for it.
    if (part.thoughtSignature === undefined) return [];
    copy['text'] = '';
  }
  return [copy];
}

function withoutOurId<T extends { id?: string | undefined }>(call: T): Omit<T, 'id'> | T {
  if (call.id === undefined || (call.id !== '' && !call.id.startsWith(CALL_ID_OF_OURS))) return call;
  const { id: _, ...rest } = call;
  return rest;
}

/** The Developer API rejects display names of media. */
function dropDisplayNames(part: JsonObject): void {
  for (const kind of ['inlineData', 'fileData']) {
    const media = part[kind] as JsonObject | undefined;
    if (media?.['displayName'] === undefined) continue;
    const { displayName: _, ...rest } = media;
    part[kind] = rest;
  }
  const response = part['functionResponse'] as { parts?: unknown[] } | undefined;
  if (!response?.parts) return;
  const parts = response.parts.map((one) => {
    const copy = { ...(one as JsonObject) };
    dropDisplayNames(copy);
    return copy;
  });
  part['functionResponse'] = { ...response, parts };
}

/** The settings in Gemini's format. Unknown settings are passed through. */
export function toGeminiConfig(config: GenerateConfig, service: GeminiService): JsonObject {
  const { systemInstruction, tools, responseSchema, labels, ...settings } = config;
  const result: JsonObject = { ...settings };
  if (systemInstruction) result['systemInstruction'] = { role: 'user', parts: [{ text: systemInstruction }] };
  const entries = toGeminiTools(tools ?? []);
  if (entries.length > 0) result['tools'] = entries;
  if (labels && service.vertex) result['labels'] = labels;
  if (responseSchema) {
    const translated = toGeminiSchema(responseSchema);
    if (translated) result['responseSchema'] = translated;
    else result['responseJsonSchema'] = withoutDialect(responseSchema);
    result['responseMimeType'] ??= 'application/json';
  }
  return result;
}

/** All functions in one entry, as Gemini requires, and built-in tools unchanged. */
function toGeminiTools(entries: NonNullable<GenerateConfig['tools']>): Tool[] {
  const functions: JsonObject[] = [];
  const builtIns: Tool[] = [];
  for (const { functionDeclarations = [], ...builtIn } of entries) {
    functions.push(...functionDeclarations.map(toGeminiDeclaration));
    if (Object.keys(builtIn).length > 0) builtIns.push(builtIn);
  }
  return functions.length > 0 ? [{ functionDeclarations: functions }, ...builtIns] : builtIns;
}

/** One function. Schemas that Gemini's dialect cannot express are sent as JSON Schema. */
export function toGeminiDeclaration({ name, description, parameters, response }: FunctionDeclaration): JsonObject {
  return {
    name,
    description,
    ...schemaField('parameters', parameters),
    ...schemaField('response', response),
  };
}

function schemaField(field: 'parameters' | 'response', schema: JsonObject | undefined): JsonObject {
  if (!schema || takesNothing(schema)) return {};
  const translated = toGeminiSchema(schema);
  return translated ? { [field]: translated } : { [`${field}JsonSchema`]: withoutDialect(schema) };
}

const takesNothing = (schema: JsonObject): boolean =>
  schema['type'] === 'object' &&
  Object.keys((schema['properties'] as JsonObject | undefined) ?? {}).length === 0 &&
  (schema['additionalProperties'] === undefined || schema['additionalProperties'] === false);

function withoutDialect(schema: JsonObject): JsonObject {
  const { $schema: _, ...rest } = schema;
  return rest;
}
