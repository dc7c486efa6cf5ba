import { AppError, errorText } from '../../base/errors.ts';
import { firstResult, hasHook } from '../../core/hooks.ts';
import type { RunContext, Tool, Toolset } from '../../core/runtime.ts';
import { reservedNames } from '../reserved-names.ts';
import { type MissingToolset, type StepTools, stepTools } from './step-tools.ts';

/**
 * Lists the tools of a step: asks all toolsets at once and puts their tools in their place. A toolset that fails is
 * left out and the step goes on without it (`StepTools.missing`). Throws ConfigurationException: an author's mistake.
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

/** Leaves out a server's tool whose name the runtime, the author or another server uses: the author did not choose it. */
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

/** Tools whose names clashed. The log warns once for each. */
const warnedOf = new WeakSet<Tool | Toolset>();

function missingToolset({ name = 'unnamed' }: Toolset, error: unknown, ctx: RunContext): MissingToolset {
  ctx.signal.throwIfAborted();
  const code = error instanceof AppError ? error.code : undefined;
  if (code === 'ConfigurationException') throw error;
  ctx.log?.warn({ agent: ctx.agent.name, toolset: name, code, err: error }, 'a toolset cannot say what it offers');
  return { name, reason: errorText(error), code };
}
