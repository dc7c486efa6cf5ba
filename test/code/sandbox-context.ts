import type { CodeExecutionOutput, CodeExecutor, CodeFile } from '../../src/core/code-executor.ts';
import type { RunContext } from '../../src/core/runtime.ts';

/** As much of a run as sandboxes look at. */
export function runOf(userId = 'u', signal: AbortSignal = new AbortController().signal): RunContext {
  return { signal, session: { appName: 'app', userId, id: 's' } } as unknown as RunContext;
}

interface Extra {
  readonly files?: readonly CodeFile[];
  readonly language?: string;
  readonly executionId?: string;
  readonly ctx?: RunContext;
}

export async function runIn(executor: CodeExecutor, code: string, extra: Extra = {}): Promise<CodeExecutionOutput> {
  const { files = [], ctx = runOf(), language, executionId } = extra;
  const input = {
    code,
    inputFiles: files,
    ...(language !== undefined && { language }),
    ...(executionId !== undefined && { executionId }),
  };
  return await executor.execute!(input, ctx);
}

export const textFile = (name: string, text: string): CodeFile => ({
  name,
  mimeType: 'text/plain',
  data: Buffer.from(text).toString('base64'),
});

export const fileText = ({ data }: CodeFile): string => Buffer.from(data, 'base64').toString();

const kinds = new Set(['Worker', 'MessagePort', 'ProcessWrap']);

/** Threads and processes of this process that are still there, by what keeps them alive. */
export const openThreads = (): number => process.getActiveResourcesInfo().filter((name) => kinds.has(name)).length;
