import { isDeepStrictEqual } from 'node:util';
import type { CallToolResult, ContentBlock } from '@modelcontextprotocol/client';
import { AppError, errorText } from '../../base/errors.ts';
import type { JsonObject } from '../../base/json.ts';
import type { ToolContext } from '../../core/runtime.ts';
import { readablePart } from '../readable-part.ts';

/**
 * A server's result as a function response: `{ content, structuredContent }` as in the protocol, `{ error }` when the
 * tool failed. Media become artifacts, because models cannot read base64; text that only repeats the structured content
 * is left out.
 */
export async function toolResponse(result: CallToolResult, tool: string, ctx: ToolContext): Promise<JsonObject> {
  const { structuredContent, isError } = result;
  if (isError) {
    const error = textsOf(result.content).join('\n') || `"${tool}" failed and did not say why`;
    return { error, ...(structuredContent !== undefined && { details: structuredContent }) };
  }
  const blocks = result.content.filter((block) => !repeats(block, structuredContent));
  const content = await readableBlocks(blocks, tool, ctx);
  if (structuredContent === undefined) return { content };
  return { structuredContent, ...(content.length > 0 && { content }) };
}

const textsOf = (content: readonly ContentBlock[]): string[] =>
  content.flatMap((block) => (block.type === 'text' ? [block.text] : []));

function repeats(block: ContentBlock, structure: unknown): boolean {
  if (structure === undefined || block.type !== 'text' || !/^\s*[[{]/.test(block.text)) return false;
  try {
    return isDeepStrictEqual(JSON.parse(block.text), structure);
  } catch {
    return false;
  }
}

/** Saves media as artifacts. Returns the blocks with the artifacts' names in place of the media. */
export async function readableBlocks(
  blocks: readonly ContentBlock[],
  tool: string,
  ctx: ToolContext,
): Promise<JsonObject[]> {
  const readable: JsonObject[] = [];
  for (const { _meta, ...block } of blocks) {
    const name = `${tool}-${ctx.functionCallId}-${readable.length + 1}`;
    if (block.type === 'image' || block.type === 'audio') {
      const { data, ...rest } = block;
      readable.push({ ...rest, ...(await keep({ name, mimeType: rest.mimeType, data }, ctx)) });
    } else if (block.type === 'resource') {
      const { _meta: _, ...resource } = block.resource;
      readable.push({ ...block, resource: await readableResource(resource, name, ctx) });
    } else {
      readable.push(block);
    }
  }
  return readable;
}

/** The content of a resource: text (also if sent as bytes) as text, anything else as an artifact. */
export async function readableResource(
  resource: { uri: string; mimeType?: string | undefined; blob?: string; text?: string },
  name: string,
  ctx: ToolContext,
): Promise<JsonObject> {
  const { blob, ...rest } = resource;
  if (blob === undefined) return rest;
  const { mimeType = 'application/octet-stream' } = rest;
  const { text } = textTypes.test(mimeType) ? readablePart({ inlineData: { mimeType, data: blob } }) : {};
  if (text !== undefined) return { ...rest, text };
  return { ...rest, mimeType, ...(await keep({ name, mimeType, data: blob }, ctx)) };
}

const textTypes = /^text\/|^application\/(?:\w+\+)?(?:json|xml)\b/;

interface Media {
  readonly name: string;
  readonly mimeType: string;
  readonly data: string;
}

/** Saves an artifact. A failure becomes a note, because the rest of the result is still useful. */
async function keep({ name, mimeType, data }: Media, ctx: ToolContext): Promise<JsonObject> {
  const artifact = `${name}${ending(mimeType)}`;
  try {
    await ctx.saveArtifact(artifact, { inlineData: { mimeType, data } });
    return { artifact };
  } catch (error) {
    ctx.signal.throwIfAborted();
    const why =
      error instanceof AppError && error.code === 'not_supported' ? 'there is no artifact store' : errorText(error);
    return { note: `${Buffer.byteLength(data, 'base64')} bytes, not kept: ${why}` };
  }
}

/** The file extension: `.png` for `image/png`, so that a downloaded artifact opens. */
function ending(mimeType: string): string {
  const type = /^[\w-]+\/(?:x-)?([\w-]{1,10})(?:\+\w+)?\s*(?:;|$)/.exec(mimeType)?.[1]?.toLowerCase();
  if (type === undefined || type === 'octet-stream') return '.bin';
  return `.${endings[type] ?? type}`;
}

const endings: Readonly<Record<string, string>> = {
  jpeg: 'jpg',
  plain: 'txt',
  mpeg: 'mp3',
  markdown: 'md',
  javascript: 'js',
};
