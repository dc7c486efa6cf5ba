import type { CodeDelimiters, CodeExecutionInput, CodeExecutionOutput, CodeExecutor } from '../core/code-executor.ts';
import type { RunContext } from '../core/runtime.ts';
import type { StartHost } from './interpreter-host.ts';
import type { SandboxSettings } from './sandbox-options.ts';
import type { Sandbox } from './sandbox.ts';

/** A language that a sandbox runs. */
export interface SandboxLanguage {
  readonly title: string;
  /** Tags of code blocks in this language; the model is told the first. */
  readonly tags: readonly string[];
  /** Loads what starts its interpreters: an executor that runs no code needs neither threads nor processes. */
  readonly start: () => Promise<StartHost>;
}

type Run = (input: CodeExecutionInput, ctx: RunContext) => Promise<CodeExecutionOutput>;
export interface SandboxExecutor extends CodeExecutor {
  execute: Run;
  close(): Promise<void>;
}

/** An executor for several languages, each with its own sandbox. Code without a language runs as the first. */
export function sandboxExecutor(languages: readonly SandboxLanguage[], settings: SandboxSettings): SandboxExecutor {
  const sandboxes = new Map<SandboxLanguage, Promise<Sandbox>>();
  const sandboxOf = (language: SandboxLanguage): Promise<Sandbox> => {
    const known = sandboxes.get(language) ?? newSandbox(language, settings);
    sandboxes.set(language, known);
    return known;
  };
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
      const found = isNamed ? languages.find(({ tags }) => tags.includes(written)) : languages[0];
      if (found) return await (await sandboxOf(found)).run(input, written, ctx);
      const stderr = `Error: ${titles} can be run here, "${written}" cannot`;
      return { stdout: '', stderr, outputFiles: [] };
    },
    close: async () => {
      await Promise.all([...sandboxes.values()].map(async (sandbox) => (await sandbox).close()));
    },
  };
}

async function newSandbox(language: SandboxLanguage, settings: SandboxSettings): Promise<Sandbox> {
  const [module, start] = await Promise.all([import('./sandbox.ts'), language.start()]);
  return new module.Sandbox(start, settings);
}

const fence = (tag: string): CodeDelimiters => [`\`\`\`${tag}\n`, '\n```'];
