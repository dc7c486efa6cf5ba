import type { CodeDelimiters, CodeExecutionInput, CodeExecutionOutput, CodeExecutor } from '../core/code-executor.ts';
import type { RunContext } from '../core/runtime.ts';
import type { StartHost } from './interpreter-host.ts';
import type { SandboxSettings } from './sandbox-options.ts';
import { Sandbox } from './sandbox.ts';

/** A language a sandbox runs. */
export interface SandboxLanguage {
  readonly title: string;
  /** The names code blocks are tagged with; the first is the one the model is shown. */
  readonly tags: readonly string[];
  readonly start: StartHost;
}

type Run = (input: CodeExecutionInput, ctx: RunContext) => Promise<CodeExecutionOutput>;
export interface SandboxExecutor extends CodeExecutor {
  execute: Run;
  close(): Promise<void>;
}

/** An executor for some languages, each in a sandbox of its own. Code that names no language is of the first. */
export function sandboxExecutor(languages: readonly SandboxLanguage[], settings: SandboxSettings): SandboxExecutor {
  const sandboxes = languages.map((language) => ({
    language,
    sandbox: new Sandbox(language.start, settings),
  }));
  const titles = languages.map(({ title }) => title).join(' and ');
  const { stateful, optimizeDataFile, errorRetryAttempts, executionResultDelimiters } = settings;
  return {
    stateful,
    optimizeDataFile,
    ...(errorRetryAttempts !== undefined && { errorRetryAttempts }),
    ...(executionResultDelimiters && { executionResultDelimiters }),
    codeBlockDelimiters: settings.codeBlockDelimiters ?? languages.flatMap(({ tags }) => tags.map(fence)),
    async execute(input, ctx) {
      const written = input.language?.toLowerCase() ?? '';
      const isNamed = written !== '' && written !== 'language_unspecified';
      const found = isNamed ? sandboxes.find(({ language }) => language.tags.includes(written)) : sandboxes[0];
      if (found) return await found.sandbox.run(input, written, ctx);
      const stderr = `Error: ${titles} can be run here, "${written}" cannot`;
      return { stdout: '', stderr, outputFiles: [] };
    },
    close: async () => {
      await Promise.all(sandboxes.map(({ sandbox }) => sandbox.close()));
    },
  };
}

const fence = (tag: string): CodeDelimiters => [`\`\`\`${tag}\n`, '\n```'];
