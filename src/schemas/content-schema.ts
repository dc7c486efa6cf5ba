import { z } from 'zod';
import { lenient } from './lenient.ts';

const jsonObject = z.record(z.string(), z.unknown());
/** Base64 in the standard or the URL-safe alphabet, with or without padding (peers send each). */
export const Base64 = z.string().regex(/^[\w+/-]*={0,2}$/, 'is not base64');

/** Media inside a message: base64 data with its type. */
export const Blob = lenient({ mimeType: z.string(), data: Base64, displayName: z.string().optional() });
export type Blob = z.infer<typeof Blob>;

/** Media elsewhere, by URI. */
export const FileData = lenient({
  fileUri: z.string(),
  mimeType: z.string().optional(),
  displayName: z.string().optional(),
});
export type FileData = z.infer<typeof FileData>;

/** A model's call of a tool. `id` pairs it with its response; ids that the server makes start with `adk-`. */
export const FunctionCall = lenient({
  id: z.string().optional(),
  name: z.string(),
  args: jsonObject.optional(),
  partialArgs: z.array(z.unknown()).optional(),
  willContinue: z.boolean().optional(),
});
export type FunctionCall = z.infer<typeof FunctionCall>;

/** The response to a call, in a content of role `user`. */
export const FunctionResponse = lenient({
  id: z.string().optional(),
  name: z.string(),
  response: jsonObject.default({}),
  willContinue: z.boolean().optional(),
  scheduling: z.string().optional(),
  parts: z.array(z.unknown()).optional(),
});
export type FunctionResponse = z.infer<typeof FunctionResponse>;

export const ExecutableCode = lenient({ code: z.string(), language: z.string().optional() });
export type ExecutableCode = z.infer<typeof ExecutableCode>;

export const CodeExecutionResult = lenient({ outcome: z.string(), output: z.string().optional() });
export type CodeExecutionResult = z.infer<typeof CodeExecutionResult>;

/** One piece of a message: exactly one payload in practice, plus modifiers. Unknown fields pass through untouched. */
export const Part = lenient({
  text: z.string().optional(),
  thought: z.boolean().optional(),
  thoughtSignature: z.string().optional(),
  inlineData: Blob.optional(),
  fileData: FileData.optional(),
  functionCall: FunctionCall.optional(),
  functionResponse: FunctionResponse.optional(),
  executableCode: ExecutableCode.optional(),
  codeExecutionResult: CodeExecutionResult.optional(),
  videoMetadata: z.unknown().optional(),
}).meta({ id: 'Part' });
export type Part = z.infer<typeof Part>;

/** One message, or one part of one: who speaks (`user` or `model`) and what. */
export const Content = lenient({ role: z.string().optional(), parts: z.array(Part).default([]) }).meta({
  id: 'Content',
});
export type Content = z.infer<typeof Content>;

/** Parts one message may have. */
export const maxParts = 1_000;

/** Parts that only models say, in the spellings that may still be here: `lenient` renames those it knows. */
const modelParts = ['functionCall', 'executableCode', 'codeExecutionResult', 'toolCall', 'toolResponse'];
const modelPartKeys = new Set([...modelParts, 'tool_call', 'tool_response']);

/** The first part key that only models may use; `undefined` if there is none. Otherwise a client could speak for the model. */
export function modelPartIn({ parts }: Content): string | undefined {
  for (const part of parts) {
    if (part.thought) return 'thought';
    for (const key in part) if (modelPartKeys.has(key)) return key;
  }
  return undefined;
}

/** The message with role `user`, whatever role it names, without thought marks. */
export function asUserMessage(content: Content): Content {
  const isMarked = content.parts.some((part) => 'thought' in part || 'thoughtSignature' in part);
  if (content.role === 'user' && !isMarked) return content;
  return { ...content, role: 'user', parts: isMarked ? content.parts.map(withoutMarks) : content.parts };
}

function withoutMarks(part: Part): Part {
  const { thought: _, thoughtSignature: __, ...rest } = part;
  return rest;
}

/**
 * A message from a client: 1 to `maxParts` parts, none empty, none that only models may use. Its role becomes `user`.
 */
export const MessageContent = Content.refine((content) => content.parts.length > 0, {
  message: 'must have at least one part',
  path: ['parts'],
})
  .refine((content) => content.parts.length <= maxParts, {
    message: `must not have more than ${maxParts} parts`,
    path: ['parts'],
  })
  .refine((content) => modelPartIn(content) === undefined, {
    error: ({ input }) => `must not contain a part that only models may use (${modelPartIn(input as Content) ?? ''})`,
    path: ['parts'],
  })
  .overwrite(asUserMessage)
  .refine((content) => content.parts.every((part) => Object.keys(part).length > 0), {
    message: 'has an empty part',
    path: ['parts'],
  });
