import type { Part } from '../schemas/content.ts';

/** Converts any variant of base64 to the standard alphabet with padding. */
export function standardBase64(data: string): string {
  const standard = data.replaceAll('-', '+').replaceAll('_', '/').replace(/=+$/, '');
  return standard.padEnd(Math.ceil(standard.length / 4) * 4, '=');
}

/** The text in place of an attachment that a model does not accept. */
export function attachmentNote({ inlineData, fileData }: Part): string {
  const media = inlineData ?? fileData;
  const name = media?.displayName ? ` "${media.displayName}"` : '';
  const uri = fileData ? ` at ${fileData.fileUri}` : '';
  return `[Attachment${name}${uri} of type ${media?.mimeType ?? 'unknown'}, which cannot be shown here]`;
}

/** Code that another model executed, or its result, as text. */
export function codeText({ executableCode, codeExecutionResult }: Part): string | undefined {
  if (executableCode) return `\`\`\`${executableCode.language?.toLowerCase() ?? ''}\n${executableCode.code}\n\`\`\``;
  if (codeExecutionResult) return `Result (${codeExecutionResult.outcome}):\n${codeExecutionResult.output ?? ''}`;
  return undefined;
}

/** The text of a text attachment. */
export function attachedText({ inlineData }: Part): string | undefined {
  if (!inlineData || !/^(?:text\/|application\/(?:json|xml|yaml))/.test(inlineData.mimeType)) return undefined;
  return Buffer.from(inlineData.data, 'base64').toString('utf8');
}
