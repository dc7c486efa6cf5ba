import { declarations, type GeminiBody, type GeminiContent, type GeminiDeclaration } from './gemini-request.ts';

const bodyFields = new Set([
  'contents',
  'systemInstruction',
  'tools',
  'toolConfig',
  'generationConfig',
  'safetySettings',
  'cachedContent',
]);
const generationFields = new Set([
  'temperature',
  'topP',
  'topK',
  'candidateCount',
  'maxOutputTokens',
  'stopSequences',
  'responseLogprobs',
  'logprobs',
  'presencePenalty',
  'frequencyPenalty',
  'seed',
  'responseMimeType',
  'responseSchema',
  'responseJsonSchema',
  'responseModalities',
  'mediaResolution',
  'speechConfig',
  'thinkingConfig',
  'enableEnhancedCivicAnswers',
]);
const payloads = [
  'text',
  'inlineData',
  'fileData',
  'functionCall',
  'functionResponse',
  'executableCode',
  'codeExecutionResult',
];
const modifiers = new Set(['thought', 'thoughtSignature', 'videoMetadata', 'mediaResolution', 'partMetadata']);
const schemaFields = new Set([
  'type',
  'format',
  'title',
  'description',
  'nullable',
  'enum',
  'items',
  'minItems',
  'maxItems',
  'properties',
  'required',
  'minProperties',
  'maxProperties',
  'minLength',
  'maxLength',
  'pattern',
  'example',
  'default',
  'anyOf',
  'propertyOrdering',
  'minimum',
  'maximum',
]);
const schemaTypes = new Set<unknown>(['STRING', 'NUMBER', 'INTEGER', 'BOOLEAN', 'ARRAY', 'OBJECT', 'NULL']);
const functionName = /^[a-zA-Z_][\w.:-]{0,127}$/;

const unknownFields = (value: object, known: Set<string>, where: string): string[] =>
  Object.keys(value).flatMap((key) =>
    known.has(key) ? [] : [`Unknown name "${key}" at '${where}': Cannot find field.`],
  );

const asRecord = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};

function partFaults(value: unknown, where: string): string[] {
  const part = asRecord(value);
  const present = payloads.filter((name) => part[name] !== undefined);
  const data = asRecord(part['inlineData'] ?? part['fileData']);
  return [
    ...unknownFields(part, new Set([...payloads, ...modifiers]), where),
    ...(present.length === 1 ? [] : [`${where}: required oneof field 'data' must have one initialized field`]),
    ...('displayName' in data ? [`${where}: display_name parameter is not supported in Gemini API`] : []),
  ];
}

const countOf = (content: GeminiContent | undefined, kind: 'functionCall' | 'functionResponse'): number =>
  (content?.parts ?? []).filter((part) => part[kind]).length;

/** The turn rules: roles, a call right after a user turn, and as many responses as calls right after it. */
function turnFaults(contents: readonly GeminiContent[]): string[] {
  return contents.flatMap((content, index) => {
    const where = `contents[${index}]`;
    const before = contents[index - 1];
    const faults = (content.parts ?? []).flatMap((part, at) => partFaults(part, `${where}.parts[${at}]`));
    if (content.role !== 'user' && content.role !== 'model') {
      faults.push(`${where}: Please use a valid role: user, model.`);
    }
    if (!content.parts?.length) faults.push(`${where}.parts: contents.parts must not be empty.`);
    if (countOf(content, 'functionCall') > 0 && before?.role !== 'user') {
      faults.push(`${where}: a function call turn comes immediately after a user turn or a function response turn`);
    }
    if (countOf(content, 'functionResponse') !== countOf(before, 'functionCall')) {
      faults.push(`${where}: the number of function response parts is not that of the function call turn before it`);
    }
    return faults;
  });
}

function schemaFaults(value: unknown, where: string): string[] {
  const schema = asRecord(value);
  const properties = Object.entries(asRecord(schema['properties']));
  const type = schema['type'];
  return [
    ...unknownFields(schema, schemaFields, where),
    ...(type === undefined || schemaTypes.has(type)
      ? []
      : [`Invalid value at '${where}.type': ${JSON.stringify(type)}`]),
    ...(type === 'OBJECT' && properties.length === 0
      ? [`${where}.properties: should be non-empty for OBJECT type`]
      : []),
    ...(type === 'ARRAY' && !schema['items'] ? [`${where}.items: missing field.`] : []),
    ...properties.flatMap(([key, child]) => schemaFaults(child, `${where}.properties[${key}]`)),
    ...(schema['items'] ? schemaFaults(schema['items'], `${where}.items`) : []),
  ];
}

function declarationFaults(declaration: GeminiDeclaration, index: number, all: GeminiDeclaration[]): string[] {
  const where = `function_declarations[${index}]`;
  return [
    ...(functionName.test(declaration.name) ? [] : [`${where}.name: Invalid function name "${declaration.name}"`]),
    ...(all.findIndex((other) => other.name === declaration.name) === index
      ? []
      : [`Duplicate function declaration found: ${declaration.name}`]),
    ...(declaration.parameters && declaration.parametersJsonSchema
      ? [`${where}: parameters and parameters_json_schema are mutually exclusive`]
      : []),
    ...(declaration.parameters ? schemaFaults(declaration.parameters, `${where}.parameters`) : []),
  ];
}

/** What the real API would refuse in this request, in its own terms; empty when it would answer. */
export function wireFaults(body: GeminiBody): string[] {
  const system = body.systemInstruction;
  return [
    ...unknownFields(body, bodyFields, 'body'),
    ...unknownFields(asRecord(body.generationConfig), generationFields, 'generation_config'),
    ...(body.contents?.length
      ? turnFaults(body.contents)
      : ['* GenerateContentRequest.contents: contents is not specified']),
    ...(body.contents?.at(-1)?.role === 'model' ? ['Please ensure that the last turn is a user turn.'] : []),
    ...(system?.parts ?? []).flatMap((part, at) => partFaults(part, `system_instruction.parts[${at}]`)),
    ...(system && !system.parts?.length ? ['system_instruction.parts: must not be empty.'] : []),
    ...declarations(body).flatMap(declarationFaults),
  ];
}
