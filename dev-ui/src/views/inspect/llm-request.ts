import type { Content } from '../../../../src/schemas/content.ts';

/** A model request as the trace records it, in Gemini's format. */
export interface LlmRequest {
  readonly model?: string;
  readonly contents?: readonly Content[];
  readonly config?: Readonly<Record<string, unknown>> & {
    readonly systemInstruction?: unknown;
    readonly tools?: readonly { readonly functionDeclarations?: readonly { readonly name: string }[] }[];
  };
}

/** The parts of a request that are shown separately. */
export interface RequestParts {
  readonly model: string;
  readonly system: string;
  readonly messages: readonly Content[];
  readonly tools: Readonly<Record<string, unknown>>;
  readonly config: Readonly<Record<string, unknown>>;
}

function parsed<T>(value: unknown): T | undefined {
  if (typeof value !== 'string') return undefined;
  try {
    return JSON.parse(value) as T;
  } catch {
    return undefined;
  }
}

export const requestIn = (attributes: Readonly<Record<string, unknown>>): LlmRequest | undefined => {
  const request = parsed<LlmRequest>(attributes['gcp.vertex.agent.llm_request']);
  return request && Object.keys(request).length > 0 ? request : undefined;
};

export const responseIn = (attributes: Readonly<Record<string, unknown>>): unknown =>
  parsed(attributes['gcp.vertex.agent.llm_response']);

function systemText(instruction: unknown): string {
  if (typeof instruction === 'string') return instruction;
  const parts = (instruction as Content | undefined)?.parts ?? [];
  return parts.map((part) => part.text ?? '').join('\n');
}

export function partsOf({ model = '', contents = [], config = {} }: LlmRequest): RequestParts {
  const { systemInstruction, tools = [], ...rest } = config;
  const declared = tools.flatMap((tool) => tool.functionDeclarations ?? []);
  const builtIn = tools.filter((tool) => !tool.functionDeclarations).flatMap((tool) => Object.entries(tool));
  return {
    model,
    system: systemText(systemInstruction),
    messages: contents,
    tools: Object.fromEntries([...declared.map((tool) => [tool.name, tool] as const), ...builtIn]),
    config: rest,
  };
}

/** The share of a part in the counted tokens, by its length. */
export function sharesOf(
  parts: RequestParts,
  tokens: number,
): Readonly<Record<'system' | 'messages' | 'tools', number>> {
  const lengths = {
    system: parts.system.length,
    messages: JSON.stringify(parts.messages).length,
    tools: JSON.stringify(parts.tools).length,
  };
  const total = lengths.system + lengths.messages + lengths.tools || 1;
  const share = (length: number): number => Math.round((length / total) * tokens);
  return { system: share(lengths.system), messages: share(lengths.messages), tools: share(lengths.tools) };
}

const pretty = (value: unknown): string => JSON.stringify(value, undefined, 2);

/** A request as a command for a terminal. */
export function asCurl({ model = '', contents = [], config = {} }: LlmRequest): string {
  const { systemInstruction, tools, toolConfig, safetySettings, labels: _, ...generationConfig } = config;
  const system = systemText(systemInstruction);
  const body = {
    contents,
    ...(system !== '' && { systemInstruction: { parts: [{ text: system }] } }),
    ...(tools && { tools }),
    ...(toolConfig !== undefined && { toolConfig }),
    ...(safetySettings !== undefined && { safetySettings }),
    ...(Object.keys(generationConfig).length > 0 && { generationConfig }),
  };
  return [
    `curl "https://generativelanguage.googleapis.com/v1beta/models/${model}:generateContent"`,
    `-H "x-goog-api-key: $GOOGLE_API_KEY"`,
    `-H 'content-type: application/json'`,
    `-d '${pretty(body).replaceAll("'", String.raw`'\''`)}'`,
  ].join(' \\\n  ');
}

/** A request as code. */
export const asTypeScript = (request: LlmRequest): string =>
  [
    `import { GoogleGenAI } from '@google/genai';`,
    '',
    'const ai = new GoogleGenAI({});',
    `const response = await ai.models.generateContent(${pretty(request)});`,
    'console.log(response.text);',
  ].join('\n');
