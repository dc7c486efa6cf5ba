/** One part on Gemini's wire; exactly one payload field is set. */
export interface GeminiPart {
  readonly text?: string;
  readonly thought?: boolean;
  readonly thoughtSignature?: string;
  readonly functionCall?: { readonly id?: string; readonly name: string; readonly args?: Record<string, unknown> };
  readonly functionResponse?: {
    readonly id?: string;
    readonly name: string;
    readonly response?: Record<string, unknown>;
  };
  readonly inlineData?: { readonly mimeType: string; readonly data: string };
  readonly fileData?: { readonly mimeType?: string; readonly fileUri: string };
  readonly executableCode?: { readonly code: string; readonly language: string };
  readonly codeExecutionResult?: { readonly outcome: string; readonly output?: string };
}

export interface GeminiContent {
  readonly role?: string;
  readonly parts?: readonly GeminiPart[];
}

export interface GeminiDeclaration {
  readonly name: string;
  readonly description?: string;
  readonly parameters?: Record<string, unknown>;
  readonly parametersJsonSchema?: Record<string, unknown>;
}

/** One entry of `tools`: the function declarations, or a built-in such as `googleSearch`. */
export type GeminiTool = { readonly functionDeclarations?: readonly GeminiDeclaration[] } & Record<string, unknown>;

/** The JSON body of `generateContent` as the client sent it. */
export interface GeminiBody {
  readonly contents?: readonly GeminiContent[];
  readonly systemInstruction?: GeminiContent;
  readonly tools?: readonly GeminiTool[];
  readonly toolConfig?: Record<string, unknown>;
  readonly generationConfig?: Record<string, unknown>;
  readonly safetySettings?: readonly Record<string, unknown>[];
  readonly [other: string]: unknown;
}

/** The system instruction as one text; empty when there is none. */
export const systemText = (body: GeminiBody): string =>
  (body.systemInstruction?.parts ?? []).map((part) => part.text ?? '').join('\n');

/** Every function declaration of the request, in order, over all tool entries. */
export const declarations = (body: GeminiBody): GeminiDeclaration[] =>
  (body.tools ?? []).flatMap((tool) => tool.functionDeclarations ?? []);

/** What the model may use, in order: function names, and built-ins by their wire field (`googleSearch`). */
export const toolNames = (body: GeminiBody): string[] =>
  (body.tools ?? []).flatMap((tool) =>
    Object.keys(tool).flatMap((key) =>
      key === 'functionDeclarations' ? (tool.functionDeclarations ?? []).map((one) => one.name) : [key],
    ),
  );

/** The names of a declaration's parameters, whichever schema dialect it is written in. */
export function parameterNames(declaration: GeminiDeclaration): string[] {
  const schema = declaration.parameters ?? declaration.parametersJsonSchema ?? {};
  return Object.keys((schema['properties'] as Record<string, unknown> | undefined) ?? {});
}

/** The text of the newest content: what the model is asked to answer now. */
export const lastText = (body: GeminiBody): string =>
  (body.contents?.at(-1)?.parts ?? []).map((part) => part.text ?? '').join('');

/** The function responses of the newest content. */
export const lastResponses = (body: GeminiBody): NonNullable<GeminiPart['functionResponse']>[] =>
  (body.contents?.at(-1)?.parts ?? []).flatMap((part) => (part.functionResponse ? [part.functionResponse] : []));

function describePart(part: GeminiPart): string {
  if (part.functionCall) return `call ${part.functionCall.name}(${JSON.stringify(part.functionCall.args ?? {})})`;
  if (part.functionResponse) {
    return `response ${part.functionResponse.name} ${JSON.stringify(part.functionResponse.response ?? {})}`;
  }
  if (part.inlineData) return `inline ${part.inlineData.mimeType}`;
  if (part.fileData) return `file ${part.fileData.fileUri}`;
  if (part.executableCode) return `code ${part.executableCode.code}`;
  if (part.codeExecutionResult) return `result ${part.codeExecutionResult.outcome}`;
  return part.thought ? `thought ${part.text}` : (part.text ?? '');
}

/** The history one line per content, `role: part | part`: the readable form for assertions. */
export const transcript = (body: GeminiBody): string[] =>
  (body.contents ?? []).map((content) => `${content.role}: ${(content.parts ?? []).map(describePart).join(' | ')}`);
