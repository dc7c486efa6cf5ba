import { isJsonObject } from '../../base/json.ts';
import type { ReadonlyContext, Tool } from '../../core/runtime.ts';
import { type Content, functionResponsesOf, type Part } from '../../schemas/content.ts';
import { readablePart } from '../readable-part.ts';

/** Older responses were shown in earlier requests. */
const recentEvents = 8;

/**
 * A hidden tool that adds the media in the latest responses of this toolset to one model request. `undefined` without
 * media: changing a request costs a copy of the history.
 */
export function mediaTool(ctx: ReadonlyContext, name: string, isOwn: (tool: string) => boolean): Tool | undefined {
  const recent = ctx.session.events.slice(-recentEvents);
  if (!recent.some(({ content }) => artifactsIn(content, isOwn).length > 0)) return undefined;
  return {
    kind: 'tool',
    name,
    description: 'Shows media that were answered',
    async processRequest(request, callbacks) {
      const newest = request.contents.findLastIndex(({ role }) => role === 'model') + 1;
      for (const [index, content] of [...request.contents.entries()].slice(newest)) {
        const media: Part[] = [];
        for (const artifact of artifactsIn(content, isOwn)) {
          const part = await callbacks.loadArtifact(artifact).catch(() => undefined);
          if (part && readablePart(part).inlineData) media.push(part);
        }
        // In the same content, after the function responses: providers accept media only there.
        if (media.length > 0) request.contents[index] = { ...content, parts: [...content.parts, ...media] };
      }
    },
  };
}

function artifactsIn(content: Content | undefined, isOwn: (tool: string) => boolean): string[] {
  return functionResponsesOf(content)
    .filter(({ name }) => isOwn(name))
    .flatMap(({ response }) => [response['content'], response['resources']].flatMap(blockArtifacts));
}

function blockArtifacts(blocks: unknown): string[] {
  if (!Array.isArray(blocks)) return [];
  return blocks.flatMap((block: unknown) => {
    if (!isJsonObject(block)) return [];
    const { artifact, resource } = block;
    const inner = isJsonObject(resource) ? resource['artifact'] : undefined;
    return [artifact, inner].filter((name) => typeof name === 'string');
  });
}
