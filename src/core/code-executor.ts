import type { ModelRequest } from './model.ts';
import type { MaybePromise, RunContext } from './runtime.ts';

/** An input or output file of executed code. `data` is base64. */
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
  /** Set for a stateful executor: code with the same id shares its variables. */
  readonly executionId?: string;
}

/** The result of executing code. Code that fails is a result with a non-empty `stderr`, not an exception. */
export interface CodeExecutionOutput {
  readonly stdout: string;
  readonly stderr: string;
  readonly outputFiles: readonly CodeFile[];
}

/** Opening and closing text of a code block, such as "```python\n" and "\n```". */
export type CodeDelimiters = readonly [open: string, close: string];

/** Runs the code a model writes, or lets the provider run it. */
export interface CodeExecutor {
  /** Passes data files in the user's messages to the code, and explores them before the model is called. Default false. */
  readonly optimizeDataFile?: boolean;
  /** Code of one session shares its variables. Default false. */
  readonly stateful?: boolean;
  /** Failures after which no more code is run in an invocation. Default 2. */
  readonly errorRetryAttempts?: number;
  /** Delimiters of code in a model's text; the first pair also delimits it in later requests. */
  readonly codeBlockDelimiters?: readonly CodeDelimiters[];
  /** Delimiters of results in later requests. */
  readonly executionResultDelimiters?: CodeDelimiters;
  /** For executors of the provider: changes the request; no code is run here. */
  processRequest?(request: ModelRequest): MaybePromise<void>;
  /** Runs one piece. Throws only when it cannot run code at all. Stops soon after the context's signal aborts. */
  execute?(input: CodeExecutionInput, ctx: RunContext): Promise<CodeExecutionOutput>;
  close?(): Promise<void>;
}
