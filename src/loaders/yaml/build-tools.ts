import { agentTool } from '../../agents/agent-tool.ts';
import { closest } from '../../base/closest.ts';
import { AppError } from '../../base/errors.ts';
import type { JsonObject } from '../../base/json.ts';
import type { Agent, Tool, ToolContext, Toolset } from '../../core/runtime.ts';
import type { AgentRef, ToolConfig } from '../../schemas/agent-config.ts';
import {
  AgentToolArgs,
  ExampleToolArgs,
  LongRunningArgs,
  McpToolsetArgs,
  timesInMilliseconds,
} from '../../schemas/tool-args.ts';
import type { AccessLimits } from '../../tools/access-limits.ts';
import { builtInTools } from '../../tools/built-in/built-ins.ts';
import { type ExampleProvider, exampleTool } from '../../tools/built-in/example-tool.ts';
import { functionTool } from '../../tools/function-tool.ts';
import { mcpToolset } from '../../tools/mcp/mcp-toolset.ts';
import { check } from './check.ts';
import type { YamlFile } from './document.ts';
import { Faults } from './faults.ts';
import { mcpSpec, stdioRefusal } from './mcp-spec.ts';
import { placed } from './placed.ts';
import type { Registry } from './registry.ts';

export interface ToolBuildContext {
  readonly file: YamlFile;
  readonly registry: Registry;
  readonly agentOf: (ref: AgentRef, at: readonly PropertyKey[]) => Promise<Agent>;
  readonly allowStdioMcp: boolean;
  readonly limits: AccessLimits;
  readonly warn?: ((message: string) => void) | undefined;
  readonly advise?: ((message: string) => void) | undefined;
}

type AnyTool = Tool | Toolset;

/** One entry of `tools`, and its path in the file. */
interface Entry {
  readonly name: string;
  readonly args: JsonObject | undefined;
  readonly at: readonly PropertyKey[];
}

/** The tools of an agent, in their order. Throws ConfigurationException with the location of the fault. */
export async function toolsOf(configs: readonly ToolConfig[], context: ToolBuildContext): Promise<AnyTool[]> {
  const tools: AnyTool[] = [];
  const faults = new Faults();
  for (const [index, { name, args }] of configs.entries()) {
    const at = ['tools', index];
    const entry = { name: name.trim(), args, at };
    const tool = await faults.attempt(() => placed(context.file, at, () => toolOf(entry, context)));
    if (tool) tools.push(tool);
  }
  faults.throwAny();
  return tools;
}

type Maker = (entry: Entry, context: ToolBuildContext) => AnyTool | Promise<AnyTool>;

/** Entries that need more than their args. Names with a package in front are those of ADK for Java and Python. */
const special: Readonly<Record<string, Maker>> = {
  AgentTool: agentToolOf,
  ExampleTool: exampleToolOf,
  LongRunningFunctionTool: longRunningToolOf,
  McpToolset: mcpToolsetOf,
  MCPToolset: mcpToolsetOf,
};

async function toolOf(entry: Entry, context: ToolBuildContext): Promise<AnyTool> {
  const { name, args } = entry;
  const own = context.registry.exact(name);
  if (own !== undefined) return await registryTool(own, entry);
  const simple = name
    .replace(/^(?:com\.)?google\.adk\.tools\./, '')
    .replace(/^(?:\w+\.)*(?=M[cC][pP]Toolset$|AgentTool$)/, '');
  const make = Object.hasOwn(special, simple) ? special[simple] : undefined;
  if (make) return await make(entry, context);
  const builtIn = builtInTools.get(simple);
  if (builtIn) return builtIn(args, context.limits);
  const found = context.registry.find(name);
  if (found !== undefined) return await registryTool(found, entry);
  const meant = closest(name, [...builtInTools.keys(), ...Object.keys(special)]);
  if (meant !== undefined) {
    throw new AppError('ConfigurationException', `Tool or toolset not found: "${name}" (did you mean "${meant}"?)`);
  }
  return await registryTool(context.registry.get(name, 'tool'), entry);
}

/** A tool, a toolset, a function that makes one from `args`, or, without `args`, a plain function. */
async function registryTool(found: unknown, { name, args }: Entry): Promise<AnyTool> {
  if (isTool(found)) {
    if (args === undefined) return found;
    throw new AppError(
      'ConfigurationException',
      `"${name}" takes no args: it is a tool, not a function that makes one`,
    );
  }
  if (typeof found !== 'function') throw new AppError('ConfigurationException', `"${name}" is not a tool`);
  if (args === undefined) return plainFunction(found as PlainFunction, name);
  const made: unknown = await found(args);
  if (isTool(made)) return made;
  throw new AppError('ConfigurationException', `"${name}" made no tool of its args`);
}

interface PlainFunction {
  (args: JsonObject, ctx: ToolContext): unknown;
  readonly description?: string;
}

/**
 * A plain function as a tool: the model sees its name and its `description`, if it has one, and may send any arguments.
 * `functionTool` declares parameters and validates them.
 */
function plainFunction(run: PlainFunction, name: string): Tool {
  return functionTool({
    name: name.slice(name.lastIndexOf('.') + 1),
    description: run.description ?? '',
    parameters: { type: 'object' },
    run,
  });
}

async function agentToolOf({ args, at }: Entry, { file, agentOf, warn }: ToolBuildContext): Promise<AnyTool> {
  const here = [...at, 'args'];
  const { agent, skipSummarization, includePlugins } = check(AgentToolArgs, args, file, { at: here, warn });
  return agentTool({
    agent: await agentOf(agent, [...here, 'agent']),
    ...(skipSummarization !== undefined && { skipSummarization }),
    ...(includePlugins !== undefined && { includePlugins }),
  });
}

function exampleToolOf({ args, at }: Entry, { file, registry, warn }: ToolBuildContext): AnyTool {
  const { examples } = check(ExampleToolArgs, args, file, { at: [...at, 'args'], warn });
  const listed = builtInTools.get('ExampleTool');
  if (Array.isArray(examples)) return exampleList(listed, examples);
  if (typeof examples['name'] !== 'string') return exampleList(listed, [examples]);
  const found = registry.get(examples['name'], 'examples');
  if (Array.isArray(found)) return exampleList(listed, found);
  // The result type of a registry function is not checked.
  if (typeof found === 'function') return exampleTool({ examples: found as ExampleProvider });
  throw new AppError('ConfigurationException', `"${examples['name']}" is neither a list of examples nor a function`);
}

function exampleList(make: ((args: JsonObject) => AnyTool) | undefined, examples: readonly unknown[]): AnyTool {
  if (make) return make({ examples });
  throw new AppError('ConfigurationException', 'Tool or toolset not found: "ExampleTool"');
}

function longRunningToolOf({ args, at }: Entry, { file, registry, warn }: ToolBuildContext): AnyTool {
  const { func } = check(LongRunningArgs, args, file, { at: [...at, 'args'], warn });
  const found = registry.get(func.name, 'tool');
  const tool = typeof found === 'function' ? plainFunction(found as PlainFunction, func.name) : found;
  if (isTool(tool) && tool.kind === 'tool') return { ...tool, isLongRunning: true };
  throw new AppError('ConfigurationException', `"${func.name}" is not a tool`);
}

function mcpToolsetOf(
  { args, at }: Entry,
  { file, registry, allowStdioMcp, limits, warn, advise }: ToolBuildContext,
): AnyTool {
  if (args === undefined) throw new AppError('ConfigurationException', 'needs "args": how the server is reached');
  const checked = check(McpToolsetArgs, args, file, { at: [...at, 'args'], warn });
  for (const path of timesInMilliseconds(args)) {
    const text = `"${String(path.at(-1))}" looks like milliseconds: times are in seconds here`;
    advise?.(file.say([...at, 'args', ...path], text));
  }
  const spec = { ...mcpSpec(checked, registry), ...limits };
  return 'stdio' in spec.connection && !allowStdioMcp ? failingToolset(file.fail(at, stdioRefusal)) : mcpToolset(spec);
}

/** Fails on use only: replaying a recorded conversation works without the toolset. */
const failingToolset = (error: AppError): Toolset => ({
  kind: 'toolset',
  isRemote: true,
  getTools: () => Promise.reject(error),
  check: () => Promise.reject(error),
  close: () => Promise.resolve(),
});

function isTool(value: unknown): value is AnyTool {
  if (typeof value !== 'object' || value === null || !('kind' in value)) return false;
  return value.kind === 'tool' || value.kind === 'toolset';
}
