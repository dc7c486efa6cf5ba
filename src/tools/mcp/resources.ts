import { z } from 'zod';
import { AppError, errorText } from '../../base/errors.ts';
import type { JsonObject } from '../../base/json.ts';
import type { Tool, ToolContext } from '../../core/runtime.ts';
import { functionTool } from '../function-tool.ts';
import { AwaitingUser } from './access.ts';
import { type CallEnvironment, callServer } from './call.ts';
import { readableResource } from './result.ts';

/** A resource as servers list it; it may have more members. */
export const McpResource = z.looseObject({
  uri: z.string(),
  name: z.string().default(''),
  title: z.string().optional(),
  description: z.string().optional(),
  mimeType: z.string().optional(),
});
export type McpResource = z.infer<typeof McpResource>;

/** Resources in the description of the tool. The others can still be loaded. */
const maxListed = 100;
const maxLineLength = 200;

/** The tool with which the model reads resources. Its description lists them. */
export function resourceTool(name: string, resources: readonly McpResource[], setting: CallEnvironment): Tool {
  const { name: server } = setting.options;
  const listed = resources.slice(0, maxListed).map((resource) => describe(resource));
  const more = resources.length > maxListed ? `\nand ${resources.length - maxListed} more` : '';
  return functionTool({
    name,
    description: `Reads resources of the MCP server "${server}", by name or URI. There are:\n${listed.join('\n')}${more}`,
    parameters: z.object({ resource_names: z.array(z.string()).describe('Names or URIs of resources') }),
    run: async ({ resource_names }, ctx) => {
      const read: JsonObject[] = [];
      for (const wanted of resource_names) {
        const found = await readOne(wanted, { name, resources, setting }, ctx);
        if (found instanceof AwaitingUser) return found.response;
        read.push(...found);
      }
      return { resources: read };
    },
  });
}

function describe({ name, uri, description, mimeType }: McpResource): string {
  const details = [mimeType, description].filter((text) => text !== undefined && text !== '').join(': ');
  return `- ${JSON.stringify(name)} ${uri}${details === '' ? '' : ` (${details})`}`.slice(0, maxLineLength);
}

interface Reading {
  /** The tool's name: artifacts are named after it. */
  readonly name: string;
  readonly resources: readonly McpResource[];
  readonly setting: CallEnvironment;
}

/** A failure affects only this resource. */
async function readOne(
  wanted: string,
  { name, resources, setting }: Reading,
  ctx: ToolContext,
): Promise<JsonObject[] | AwaitingUser> {
  const known = resources.find((resource) => resource.name === wanted || resource.uri === wanted);
  const uri = known?.uri ?? (URL.canParse(wanted) ? wanted : undefined);
  if (uri === undefined) return [{ name: wanted, error: 'There is no resource of this name' }];
  try {
    const result = await callServer(setting, ctx, (session, limit) => session.readResource(uri, limit));
    if (result instanceof AwaitingUser) return result;
    const start = `${name}-${ctx.functionCallId}-${artifactCount(ctx)}`;
    return await Promise.all(
      result.contents.map(({ _meta, ...content }, index) => readableResource(content, `${start}-${index + 1}`, ctx)),
    );
  } catch (error) {
    ctx.signal.throwIfAborted();
    return [{ uri, error: error instanceof AppError ? error.message : errorText(error) }];
  }
}

const artifactCount = ({ actions }: ToolContext): number => Object.keys(actions.artifactDelta).length + 1;
