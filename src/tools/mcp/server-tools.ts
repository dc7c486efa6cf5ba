import { z } from 'zod';
import { AppError } from '../../base/errors.ts';
import { jsonFault, type JsonObject } from '../../base/json.ts';
import type { RunLog, Tool, ToolContext } from '../../core/runtime.ts';
import { type McpOptions, usableName } from './connection/options.ts';

/** The required form of a server's tool. Members that models do not see may be anything. */
const ServerTool = z.looseObject({
  name: z.string().min(1).max(128),
  title: z.string().optional(),
  description: z.string().optional(),
  inputSchema: z.looseObject({ type: z.literal('object').optional() }),
  outputSchema: z.record(z.string(), z.unknown()).optional(),
  annotations: z.record(z.string(), z.unknown()).optional(),
  execution: z.looseObject({ taskSupport: z.string().optional() }).optional(),
});

const maxNameLength = 64;
/** Characters of JSON, of one tool and of all tools of a server. Every model request contains them. */
const maxDeclaration = 256 * 1024;
const maxDeclarations = 4 * 1024 * 1024;

export interface ServerToolsOptions {
  readonly options: McpOptions;
  /** Calls a tool by its name at the server. */
  readonly call: (tool: string, args: JsonObject, ctx: ToolContext) => Promise<unknown>;
  readonly log: RunLog | undefined;
}

/**
 * The tools of a server. Those that no model can use are skipped with a warning (McpToolDeclarationException), so that
 * the others still work.
 */
export function serverTools(listed: readonly unknown[], maker: ServerToolsOptions): Tool[] {
  const { options, log } = maker;
  const tools = new Map<string, Tool>();
  let room = maxDeclarations;
  for (const item of listed) {
    try {
      const tool = serverTool(item, maker);
      if (!tool) continue;
      if (tools.has(tool.name)) throw unusable(options, tool.name, 'another tool has the same name');
      room -= JSON.stringify(tool.declaration).length;
      if (room < 0) throw unusable(options, tool.name, 'the server offers more than a model can be told');
      tools.set(tool.name, tool);
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      log?.warn(
        { server: options.name, code: error.code, reason: error.message },
        'a tool of an MCP server is left out',
      );
    }
  }
  return [...tools.values()];
}

/** `undefined` for tools that only run as tasks, which this client does not support. */
function serverTool(item: unknown, { options, call }: ServerToolsOptions): Tool | undefined {
  const given = nameIn(item);
  const fault = jsonFault(item);
  if (fault !== undefined) throw unusable(options, given, fault);
  const parsed = ServerTool.safeParse(item);
  if (!parsed.success) {
    throw unusable(
      options,
      given,
      parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join('; '),
    );
  }
  const { name: original, title, description, inputSchema, outputSchema, annotations, execution } = parsed.data;
  if (execution?.taskSupport === 'required') return undefined;
  const name = usableName(original);
  const prefixLength = options.namePrefix ? options.namePrefix.length + 1 : 0;
  if (name.length + prefixLength > maxNameLength) throw unusable(options, original, 'its name is too long');
  const text = description ?? title ?? original;
  const parameters = { type: 'object', ...inputSchema };
  const declaration = { name, description: text, parameters, ...(outputSchema && { response: outputSchema }) };
  if (JSON.stringify(declaration).length > maxDeclaration)
    throw unusable(options, original, 'its declaration is too long');
  const { requireConfirmation: confirmation } = options;
  return {
    kind: 'tool',
    name,
    description: text,
    declaration,
    customMetadata: { mcpServer: options.name, ...(annotations && { annotations }) },
    ...(options.timeoutMs !== undefined && { timeoutMs: options.timeoutMs }),
    ...(confirmation !== undefined && {
      requireConfirmation:
        typeof confirmation === 'boolean' ? confirmation : (args, ctx) => confirmation(original, args, ctx),
    }),
    run: (args, ctx) => call(original, args, ctx),
  };
}

const nameIn = (item: unknown): string =>
  typeof item === 'object' && item !== null && 'name' in item && typeof item.name === 'string' ? item.name : '';

const unusable = ({ name }: McpOptions, tool: string, why: string): AppError =>
  new AppError(
    'McpToolDeclarationException',
    `The tool ${JSON.stringify(tool.slice(0, 200))} of the MCP server "${name}" cannot be offered: ${why}`,
  );
