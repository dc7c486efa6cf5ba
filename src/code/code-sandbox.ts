import { javascript } from './javascript/javascript-sandbox.ts';
import { hasPyodide, python } from './python/python-sandbox.ts';
import { type SandboxExecutor, sandboxExecutor } from './sandbox-executor.ts';
import { type SandboxOptions, sandboxSettings } from './sandbox-options.ts';

/**
 * Runs the code that a model writes, in the language of the code block's tag: JavaScript, and Python where the package
 * `pyodide` is installed. Throws ConfigurationException when an option is wrong.
 */
export const codeSandbox = (options: SandboxOptions = {}): SandboxExecutor =>
  sandboxExecutor(hasPyodide() ? [python, javascript] : [javascript], sandboxSettings('CodeSandbox', options));
