import { AppError } from '../base/errors.ts';
import type { FunctionDeclaration } from '../core/model.ts';
import type { RunContext, Tool, Toolset } from '../core/runtime.ts';

/** The tools of one step: what the model is told, what its calls find, and who else shapes the request. */
export interface StepTools {
  readonly byName: ReadonlyMap<string, Tool>;
  readonly declarations: readonly FunctionDeclaration[];
  /** In list order, a toolset before its tools. */
  readonly shapers: readonly (Tool | Toolset)[];
}

/** Sorts tools for a step. Throws ConfigurationException when two share a name: the model could not tell them apart. */
export function stepTools(agent: string, items: readonly (Tool | Toolset)[]): StepTools {
  const byName = new Map<string, Tool>();
  const declarations: FunctionDeclaration[] = [];
  const shapers: (Tool | Toolset)[] = [];
  for (const item of items) {
    if (item.processRequest) shapers.push(item);
    if (item.kind === 'toolset') continue;
    if (byName.has(item.name)) {
      throw new AppError('ConfigurationException', `Agent "${agent}" has two tools named "${item.name}"`);
    }
    byName.set(item.name, item);
    if (item.declaration) declarations.push(item.declaration);
  }
  return { byName, declarations, shapers };
}

/** Asks the toolsets for their tools, all at once, and puts those where the toolsets stand. */
export async function listTools(
  agent: string,
  items: readonly (Tool | Toolset)[],
  ctx: RunContext,
): Promise<StepTools> {
  const lists = await Promise.all(
    items.map(async (item) => {
      if (item.kind !== 'toolset') return [item];
      return (await replaced(item, ctx)) ?? [item, ...(await item.getTools(ctx))];
    }),
  );
  return stepTools(agent, lists.flat());
}

async function replaced(toolset: Toolset, ctx: RunContext): Promise<readonly Tool[] | undefined> {
  for (const plugin of ctx.plugins) {
    const tools = await plugin.replaceToolset?.(toolset, ctx);
    if (tools) return tools;
  }
  return undefined;
}

/** Leaves only the named tools. */
export function only(tools: StepTools, names: ReadonlySet<string>): StepTools {
  return {
    byName: new Map([...tools.byName].filter(([name]) => names.has(name))),
    declarations: tools.declarations.filter(({ name }) => names.has(name)),
    shapers: tools.shapers.filter((item) => item.kind === 'toolset' || names.has(item.name)),
  };
}

/** Adds a tool at the end. */
export const withTool = (agent: string, tools: StepTools, tool: Tool): StepTools => {
  const added = stepTools(agent, [...tools.byName.values(), tool]);
  return { ...added, shapers: tools.shapers };
};
