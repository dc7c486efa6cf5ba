import { javascript } from './javascript-sandbox.ts';
import { hasPyodide, python } from './python-sandbox.ts';
import { type SandboxExecutor, sandboxExecutor } from './sandbox-executor.ts';
import { type SandboxOptions, sandboxSettings } from './sandbox-options.ts';

/**
 * Runs what a model writes in the language its block is tagged with: Python where the package `pyodide` is installed,
 * and JavaScript. Throws ConfigurationException when an option is wrong.
 */
export const codeSandbox = (options: SandboxOptions = {}): SandboxExecutor =>
  sandboxExecutor(hasPyodide() ? [python, javascript] : [javascript], sandboxSettings('CodeSandbox', options));
