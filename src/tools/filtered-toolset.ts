import { AppError } from '../base/errors.ts';
import type { JsonObject } from '../base/json.ts';
import type { MaybePromise, ReadonlyContext, Tool, ToolContext, Toolset } from '../core/runtime.ts';
import { checkToolName } from './function-tool.ts';

/** Selects the tools of a toolset: by name, or by a predicate. An empty list selects all. */
export type ToolFilter = readonly string[] | ((tool: Tool, ctx: ReadonlyContext) => MaybePromise<boolean>);

export interface FilteredToolsetOptions {
  /** A predicate gets tools under their original names; a list may have names with or without the prefix. */
  readonly filter?: ToolFilter;
  /** With `files`, `read` becomes `files_read`: avoids equal names in two toolsets. */
  readonly prefix?: string;
}

/** A toolset with some tools of `source`, renamed by the prefix. Closing it closes `source`. */
export function filteredToolset(source: Toolset, { filter, prefix }: FilteredToolsetOptions): Toolset {
  if (prefix) checkToolName(prefix);
  // Renamed tools are cached, so that the runtime sees the same object at each step.
  const renamed = new WeakMap<Tool, Tool>();
  const offered = (tool: Tool): Tool => {
    if (!prefix) return tool;
    const twin = renamed.get(tool) ?? renameTool(tool, `${prefix}_${tool.name}`);
    renamed.set(tool, twin);
    return twin;
  };
  return {
    kind: 'toolset',
    ...(source.name !== undefined && { name: source.name }),
    ...(source.isRemote && { isRemote: true }),
    async getTools(ctx) {
      const kept = await filterTools(await source.getTools(ctx), plainNames(filter, prefix), ctx);
      return uniquelyNamed(kept.map(offered), source.name);
    },
    ...(source.processRequest && { processRequest: (request, ctx) => source.processRequest?.(request, ctx) }),
    ...(source.check && { check: () => source.check?.() ?? Promise.resolve() }),
    close: () => source.close(),
  };
}

function plainNames(filter: ToolFilter | undefined, prefix: string | undefined): ToolFilter | undefined {
  if (!prefix || filter === undefined || typeof filter === 'function') return filter;
  const start = `${prefix}_`;
  return [...filter, ...filter.flatMap((name) => (name.startsWith(start) ? [name.slice(start.length)] : []))];
}

async function filterTools(
  tools: readonly Tool[],
  filter: ToolFilter | undefined,
  ctx: ReadonlyContext,
): Promise<readonly Tool[]> {
  if (filter === undefined) return tools;
  if (typeof filter === 'function') {
    const verdicts = await Promise.all(tools.map((tool) => filter(tool, ctx)));
    return tools.filter((_tool, index) => verdicts[index]);
  }
  return filter.length === 0 ? tools : tools.filter(({ name }) => filter.includes(name));
}

function uniquelyNamed(tools: readonly Tool[], toolset = 'unnamed'): readonly Tool[] {
  const names = new Set<string>();
  for (const { name } of tools) {
    if (names.has(name)) {
      throw new AppError('ConfigurationException', `Toolset "${toolset}" has two tools named "${name}"`);
    }
    names.add(name);
  }
  return tools;
}

/** The tool under another name. Copied member by member, because methods of a class instance need their own `this`. */
function renameTool(tool: Tool, name: string): Tool {
  checkToolName(name);
  const { declaration, isLongRunning, requireConfirmation, timeoutMs, customMetadata } = tool;
  return {
    kind: 'tool',
    name,
    description: tool.description,
    ...(declaration && { declaration: { ...declaration, name } }),
    ...(isLongRunning !== undefined && { isLongRunning }),
    ...(requireConfirmation !== undefined && {
      requireConfirmation:
        typeof requireConfirmation === 'boolean'
          ? requireConfirmation
          : (args, ctx) => requireConfirmation.call(tool, args, ctx),
    }),
    ...(timeoutMs !== undefined && { timeoutMs }),
    ...(customMetadata && { customMetadata }),
    ...(tool.run && { run: (args, ctx) => tool.run?.(args, ctx) }),
    ...(tool.stream && { stream: (args, ctx) => streamOf(tool, args, ctx) }),
    ...(tool.processRequest && { processRequest: (request, ctx) => tool.processRequest?.(request, ctx) }),
  };
}

async function* streamOf(tool: Tool, args: JsonObject, ctx: ToolContext): AsyncGenerator<unknown, void, void> {
  if (tool.stream) yield* tool.stream(args, ctx);
}
