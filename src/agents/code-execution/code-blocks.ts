import type { CodeDelimiters, CodeExecutor } from '../../core/code-executor.ts';
import type { Content, Part } from '../../schemas/content.ts';

const fence = (tag: string): CodeDelimiters => [`\`\`\`${tag}\n`, '\n```'];
const defaultBlocks = ['tool_code', 'python', 'javascript', 'typescript', 'bash', 'sh'].map(fence);
const defaultResult = fence('tool_output');

const blocksOf = (executor: CodeExecutor): readonly CodeDelimiters[] => executor.codeBlockDelimiters ?? defaultBlocks;

interface Block {
  readonly start: number;
  readonly end: number;
  readonly code: string;
  readonly language: string;
}

/** The response up to its first code block, which becomes a separate part; the same object without a code block. */
export function cutAtCode(content: Content, executor: CodeExecutor): Content {
  if (content.parts.some(({ functionCall }) => functionCall)) return content;
  for (const [index, part] of content.parts.entries()) {
    const before = content.parts.slice(0, index);
    if (part.executableCode) {
      if (content.parts[index + 1]?.codeExecutionResult) continue;
      return { ...content, parts: [...before, part] };
    }
    const block = part.text === undefined || part.thought ? undefined : firstBlock(part.text, blocksOf(executor));
    if (!block) continue;
    const text = part.text?.slice(0, block.start) ?? '';
    const intro = text.trim() === '' ? [] : [{ ...part, text }];
    return {
      ...content,
      parts: [...before, ...intro, { executableCode: { code: block.code, language: block.language } }],
    };
  }
  return content;
}

function firstBlock(text: string, delimiters: readonly CodeDelimiters[]): Block | undefined {
  let first: Block | undefined;
  for (const [open, close] of delimiters) {
    const start = text.indexOf(open);
    if (start < 0 || (first && start >= first.start)) continue;
    const from = start + open.length;
    const end = text.indexOf(close, from);
    if (end >= 0) first = { start, end, code: text.slice(from, end), language: languageOf(open) };
  }
  return first;
}

/** The language a block is tagged with, as Gemini names it. */
function languageOf(open: string): string {
  const tag = /[a-z]+/i.exec(open.replace('tool_code', 'python'))?.[0] ?? '';
  return tag === '' ? 'LANGUAGE_UNSPECIFIED' : tag.toUpperCase();
}

/** Whether the executor takes blocks in this language. */
export const supportsLanguage = (executor: CodeExecutor, language: string): boolean =>
  blocksOf(executor).some(([open]) => languageOf(open) === language);

/** A content as a model without built-in code execution can read it: code and results as fenced text. */
export function codeAsText(content: Content, executor: CodeExecutor): Content {
  if (!content.parts.some((part) => part.executableCode ?? part.codeExecutionResult)) return content;
  const [open, close] = blocksOf(executor)[0] ?? fence('');
  const [openResult, closeResult] = executor.executionResultDelimiters ?? defaultResult;
  const parts = content.parts.map((part): Part => {
    if (part.executableCode) return { text: `${open}${part.executableCode.code}${close}` };
    if (part.codeExecutionResult)
      return { text: `${openResult}${part.codeExecutionResult.output ?? ''}${closeResult}` };
    return part;
  });
  const isResult = content.parts.every(({ codeExecutionResult }) => codeExecutionResult);
  return { ...content, role: isResult ? 'user' : content.role, parts };
}
