import type { Part } from '../schemas/content.ts';

const mediaTypes = /^(?:image|audio|video)\/|^application\/pdf$/;
const textTypes =
  /^text\/|^application\/(?:json|xml|csv|yaml|x-yaml|javascript|typescript|sql|x-sh|toml)$|\+(?:json|xml)$/;

/** An artifact in a form that models accept: media unchanged, text files as text, other files as a description. */
export function readablePart(artifact: Part): Part {
  const { inlineData } = artifact;
  if (!inlineData) return artifact;
  const type = (inlineData.mimeType || 'application/octet-stream').split(';', 1)[0]?.trim().toLowerCase() ?? '';
  if (mediaTypes.test(type)) return artifact;
  const bytes = Buffer.from(inlineData.data, 'base64');
  if (textTypes.test(type)) return { text: bytes.toString('utf8') };
  return { text: `[a file of type ${type}, ${bytes.length} bytes, which cannot be shown]` };
}
