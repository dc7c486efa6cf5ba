import type { ModelRequest } from './model.ts';
import type { MaybePromise, RunContext } from './runtime.ts';

/** A file handed to code, or made by it. `data` is base64. */
export interface CodeFile {
  readonly name: string;
  readonly mimeType: string;
  readonly data: string;
}

/** One piece of code to run. */
export interface CodeExecutionInput {
  readonly code: string;
  /** As the model named it (`python`, `javascript` …); absent when it did not. */
  readonly language?: string;
  readonly inputFiles: readonly CodeFile[];
  /** Set for a stateful executor: pieces with the same id share what they defined. */
  readonly executionId?: string;
}

/** What came of it. Code that fails is a result with a non-empty `stderr`, not an exception. */
export interface CodeExecutionOutput {
  readonly stdout: string;
  readonly stderr: string;
  readonly outputFiles: readonly CodeFile[];
}

/** Opening and closing text of a code block, such as "```python\n" and "\n```". */
export type CodeDelimiters = readonly [open: string, close: string];

/** Runs the code a model writes, or lets the provider run it. */
export interface CodeExecutor {
  /** Data files in the user's messages are handed to the code, and explored before the model is asked. Default false. */
  readonly optimizeDataFile?: boolean;
  /** Pieces of code of one session share what they defined. Default false. */
  readonly stateful?: boolean;
  /** Failing pieces of code after which no more is run in an invocation. Default 2. */
  readonly errorRetryAttempts?: number;
  /** How code is marked in a model's text; the first pair is also how it is shown to the model later. */
  readonly codeBlockDelimiters?: readonly CodeDelimiters[];
  /** How results are shown to the model. */
  readonly executionResultDelimiters?: CodeDelimiters;
  /** Set by executors of the provider: they shape the request, and nothing is run here. */
  processRequest?(request: ModelRequest): MaybePromise<void>;
  /** Runs one piece. Throws only when it cannot run code at all. Stops soon after the context's signal aborts. */
  execute?(input: CodeExecutionInput, ctx: RunContext): Promise<CodeExecutionOutput>;
  close?(): Promise<void>;
}
