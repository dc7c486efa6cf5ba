import { AppError } from '../../base/errors.ts';
import type { JsonObject } from '../../base/json.ts';
import { codeSandbox } from '../../code/code-sandbox.ts';
import { javascriptSandbox } from '../../code/javascript/javascript-sandbox.ts';
import { pythonSandbox } from '../../code/python/python-sandbox.ts';
import type { CodeExecutor } from '../../core/code-executor.ts';
import type { CodeExecutorConfig } from '../../schemas/agent-config.ts';
import { builtInCodeExecutor } from '../../tools/built-in/built-in-code-execution.ts';
import type { Registry } from './registry.ts';

type Maker = (args?: JsonObject) => CodeExecutor;

const builtIn: Maker = (args = {}) => {
  if (Object.keys(args).length === 0) return builtInCodeExecutor();
  throw new AppError('ConfigurationException', 'Code executor "BuiltInCodeExecutor" takes no args');
};

const makers: Readonly<Record<string, Maker>> = {
  BuiltInCodeExecutor: builtIn,
  built_in_code_executor: builtIn,
  JavaScriptSandbox: javascriptSandbox,
  PythonSandbox: pythonSandbox,
  CodeSandbox: codeSandbox,
};

/** The code executor of an agent: built-in, or from the app's registry. Throws ConfigurationException. */
export async function codeExecutorOf({ name, args }: CodeExecutorConfig, registry: Registry): Promise<CodeExecutor> {
  const own = registry.exact(name);
  const simple = name.slice(name.lastIndexOf('.') + 1);
  const maker = Object.hasOwn(makers, simple) ? makers[simple] : undefined;
  if (own === undefined && maker) return maker(args);
  const found = own ?? registry.get(name, 'code executor');
  const made: unknown = typeof found === 'function' ? await found(args ?? {}) : found;
  if (isExecutor(made) && (args === undefined || typeof found === 'function')) return made;
  throw new AppError('ConfigurationException', `"${name}" is not a code executor${args ? ' that takes args' : ''}`);
}

function isExecutor(value: unknown): value is CodeExecutor {
  if (typeof value !== 'object' || value === null) return false;
  const has = (key: string): boolean => key in value && typeof Reflect.get(value, key) === 'function';
  return has('execute') || has('processRequest');
}
