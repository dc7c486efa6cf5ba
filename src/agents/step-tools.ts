import { AppError, type ErrorCode, errorText } from '../base/errors.ts';
import { firstResult, hasHook } from '../core/hooks.ts';
import type { FunctionDeclaration } from '../core/model.ts';
import type { RunContext, Tool, Toolset } from '../core/runtime.ts';
import { reservedNames } from './reserved-names.ts';

/** The tools of one step: what the model is told, what its calls find, and who else shapes the request. */
export interface StepTools {
  readonly byName: ReadonlyMap<string, Tool>;
  readonly declarations: readonly FunctionDeclaration[];
  /** In list order, a toolset before its tools. */
  readonly requestProcessors: readonly (Tool | Toolset)[];
  /** Toolsets that could not say what they offer, and why. */
  readonly missing: readonly MissingToolset[];
}

export interface MissingToolset {
  readonly name: string;
  readonly reason: string;
  readonly code: ErrorCode | undefined;
}

/** Sorts tools for a step. Throws ConfigurationException when two share a name: the model could not tell them apart. */
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

/**
 * Asks the toolsets for their tools, all at once, and puts those where the toolsets stand. A toolset that fails leaves
 * the others alone, unless what failed is the author's doing.
 */
export async function listTools(
  agent: string,
  items: readonly (Tool | Toolset)[],
  ctx: RunContext,
): Promise<StepTools> {
  const missing: MissingToolset[] = [];
  const lists = await Promise.all(
    items.map(async (item): Promise<OfferedTools> => {
      if (item.kind === 'tool') return { isRemote: false, tools: [item] };
      const isRemote = item.isRemote === true;
      try {
        const replacement = hasHook(ctx, 'replaceToolset')
          ? await firstResult(ctx, 'replaceToolset', { toolset: item, context: ctx })
          : undefined;
        return { isRemote, tools: replacement ?? [item, ...(await item.getTools(ctx))] };
      } catch (error) {
        missing.push(missingToolset(item, error, ctx));
        return { isRemote, tools: [] };
      }
    }),
  );
  return stepTools(agent, withoutClashes(lists, ctx), missing);
}

interface OfferedTools {
  readonly isRemote: boolean;
  readonly tools: readonly (Tool | Toolset)[];
}

/** Leaves out what a server offers under a name that is the runtime's, the author's or another server's: it is not the author who chose it. */
function withoutClashes(lists: readonly OfferedTools[], ctx: RunContext): (Tool | Toolset)[] {
  const local = lists.flatMap(({ isRemote, tools }) => (isRemote ? [] : tools.filter(({ kind }) => kind === 'tool')));
  const taken = new Set<string | undefined>([...reservedNames, ...local.map(({ name }) => name)]);
  return lists.flatMap(({ isRemote, tools }) => {
    if (!isRemote) return tools;
    const toolset = tools.find(({ kind }) => kind === 'toolset')?.name;
    return tools.filter((tool) => {
      const { kind, name } = tool;
      if (kind === 'toolset') return true;
      if (!taken.has(name)) {
        taken.add(name);
        return true;
      }
      const about = { agent: ctx.agent.name, toolset, tool: name };
      if (!warnedOf.has(tool)) ctx.log?.warn(about, 'a tool of a server is left out: its name is taken');
      warnedOf.add(tool);
      return false;
    });
  });
}

/** Tools whose names clashed: once is enough to warn. */
const warnedOf = new WeakSet<Tool | Toolset>();

function missingToolset({ name = 'unnamed' }: Toolset, error: unknown, ctx: RunContext): MissingToolset {
  ctx.signal.throwIfAborted();
  const code = error instanceof AppError ? error.code : undefined;
  if (code === 'ConfigurationException') throw error;
  ctx.log?.warn({ agent: ctx.agent.name, toolset: name, code, err: error }, 'a toolset cannot say what it offers');
  return { name, reason: errorText(error), code };
}

/** What the model is told of toolsets that are missing. Why they are is not for an instruction: others wrote that. */
export function missingText(missing: readonly MissingToolset[]): string {
  if (missing.length === 0) return '';
  const names = missing.map(({ name }) => JSON.stringify(name)).join(', ');
  return `The tools of ${names} cannot be used at the moment. If they are needed, tell the user so.`;
}

/** Leaves only the named tools. */
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
