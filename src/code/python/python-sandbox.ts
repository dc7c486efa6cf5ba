import { createRequire } from 'node:module';
import { AppError } from '../../base/errors.ts';
import { type SandboxExecutor, sandboxExecutor, type SandboxLanguage } from '../sandbox-executor.ts';
import { type SandboxOptions, sandboxSettings } from '../sandbox-options.ts';
import { workerEntry } from '../worker-entry.ts';

/** The tested version. Older ones lack members that the sandbox closes. */
export const pyodideVersion = '314.0.7';

export const python: SandboxLanguage = {
  title: 'Python',
  tags: ['python', 'tool_code', 'py'],
  start: async () => (await import('../interpreter-host.ts')).inProcess(workerEntry('python-process', import.meta.url)),
};

/**
 * Runs the Python a model writes, in CPython made for WebAssembly, with its standard library and without access to
 * the machine. Needs the package `pyodide`. Throws ConfigurationException when that is missing or an option is wrong.
 */
export function pythonSandbox(options: SandboxOptions = {}): SandboxExecutor {
  const settings = sandboxSettings('PythonSandbox', options);
  requirePyodide();
  return sandboxExecutor([python], settings);
}

/** Throws ConfigurationException when the package is not installed where `from` looks for it. */
export function requirePyodide(from: string = import.meta.url): void {
  if (hasPyodide(from)) return;
  throw new AppError(
    'ConfigurationException',
    `Code executor "PythonSandbox" needs the package "pyodide": npm install pyodide@${pyodideVersion}`,
  );
}

export function hasPyodide(from: string = import.meta.url): boolean {
  try {
    createRequire(from).resolve('pyodide');
    return true;
  } catch {
    return false;
  }
}
