import { AppError, type ErrorCode } from '../../base/errors.ts';
import type { FunctionDeclaration } from '../../core/model.ts';
import type { Tool, Toolset } from '../../core/runtime.ts';

/** The tools of one step: their declarations for the model, by name for its calls, and those that change the request. */
export interface StepTools {
  readonly byName: ReadonlyMap<string, Tool>;
  readonly declarations: readonly FunctionDeclaration[];
  /** In list order, a toolset before its tools. */
  readonly requestProcessors: readonly (Tool | Toolset)[];
  /** Toolsets that could not be listed, and why. */
  readonly missing: readonly MissingToolset[];
}

export interface MissingToolset {
  readonly name: string;
  readonly reason: string;
  readonly code: ErrorCode | undefined;
}

/** Indexes the tools of a step. Throws ConfigurationException when two share a name: the model could not tell them apart. */
export function stepTools(
  agent: string,
  items: readonly (Tool | Toolset)[],
  missing: readonly MissingToolset[] = [],
): StepTools {
  const byName = new Map<string, Tool>();
  const declarations: FunctionDeclaration[] = [];
  const requestProcessors: (Tool | Toolset)[] = [];
  for (const item of items) {
    if (item.processRequest) requestProcessors.push(item);
    if (item.kind === 'toolset') continue;
    if (byName.has(item.name)) {
      throw new AppError('ConfigurationException', `Agent "${agent}" has two tools named "${item.name}"`);
    }
    byName.set(item.name, item);
    if (item.declaration) declarations.push(item.declaration);
  }
  return { byName, declarations, requestProcessors, missing };
}

/** The instruction about missing toolsets. It leaves out the reason, which may be text of an untrusted server. */
export function missingText(missing: readonly MissingToolset[]): string {
  if (missing.length === 0) return '';
  const names = missing.map(({ name }) => JSON.stringify(name)).join(', ');
  return `The tools of ${names} cannot be used at the moment. If they are needed, tell the user so.`;
}

/** Keeps only the named tools. */
export function only(tools: StepTools, names: ReadonlySet<string>): StepTools {
  return {
    byName: new Map([...tools.byName].filter(([name]) => names.has(name))),
    declarations: tools.declarations.filter(({ name }) => names.has(name)),
    requestProcessors: tools.requestProcessors.filter((item) => item.kind === 'toolset' || names.has(item.name)),
    missing: tools.missing,
  };
}

/** Adds a tool at the end. */
export const withTool = (agent: string, tools: StepTools, tool: Tool): StepTools => {
  const added = stepTools(agent, [...tools.byName.values(), tool], tools.missing);
  return { ...added, requestProcessors: tools.requestProcessors };
};
