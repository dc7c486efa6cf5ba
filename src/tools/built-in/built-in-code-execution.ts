import type { CodeExecutor } from '../../core/code-executor.ts';
import type { ModelRequest } from '../../core/model.ts';
import type { Tool } from '../../core/runtime.ts';
import { addBuiltIn, requireGemini } from './gemini-models.ts';

const name = 'built_in_code_execution';

/** Lets a Gemini model run its Python code at Google. */
export const builtInCodeExecution: Tool = {
  kind: 'tool',
  name,
  description: 'Runs Python at the provider.',
  processRequest,
};

/** The same as an agent's code executor. Fails with ConfigurationException on models older than Gemini 2. */
export const builtInCodeExecutor = (): CodeExecutor => ({ processRequest });

function processRequest(request: ModelRequest): void {
  requireGemini(request, name, 2);
  addBuiltIn(request, { codeExecution: {} });
}
