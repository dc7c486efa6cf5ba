import { type SandboxExecutor, sandboxExecutor, type SandboxLanguage } from '../sandbox-executor.ts';
import { type SandboxOptions, sandboxSettings } from '../sandbox-options.ts';
import { workerEntry } from '../worker-entry.ts';

export const javascript: SandboxLanguage = {
  title: 'JavaScript',
  tags: ['javascript', 'js', 'typescript', 'ts'],
  start: async () =>
    (await import('../interpreter-host.ts')).inThread(workerEntry('javascript-worker', import.meta.url)),
};

/**
 * Runs the JavaScript (and TypeScript, its types removed) that a model writes, in an interpreter without network,
 * modules, or files other than its own. Throws ConfigurationException when an option is wrong.
 */
export const javascriptSandbox = (options: SandboxOptions = {}): SandboxExecutor =>
  sandboxExecutor([javascript], sandboxSettings('JavaScriptSandbox', options));
