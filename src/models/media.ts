import type { Part } from '../schemas/content.ts';

/** Base64 in the standard alphabet with padding, whatever it came in. */
export function standardBase64(data: string): string {
  const standard = data.replaceAll('-', '+').replaceAll('_', '/').replace(/=+$/, '');
  return standard.padEnd(Math.ceil(standard.length / 4) * 4, '=');
}

/** What stands for an attachment that a model cannot take, so that it knows there was one. */
export function attachmentNote({ inlineData, fileData }: Part): string {
  const media = inlineData ?? fileData;
  const name = media?.displayName ? ` "${media.displayName}"` : '';
  const uri = fileData ? ` at ${fileData.fileUri}` : '';
  return `[Attachment${name}${uri} of type ${media?.mimeType ?? 'unknown'}, which cannot be shown here]`;
}

/** Code that a model had run, or its result, as text for a model that did not. */
export function codeText({ executableCode, codeExecutionResult }: Part): string | undefined {
  if (executableCode) return `\`\`\`${executableCode.language?.toLowerCase() ?? ''}\n${executableCode.code}\n\`\`\``;
  if (codeExecutionResult) return `Result (${codeExecutionResult.outcome}):\n${codeExecutionResult.output ?? ''}`;
  return undefined;
}

/** The text of an attachment that is text. */
export function attachedText({ inlineData }: Part): string | undefined {
  if (!inlineData || !/^(?:text\/|application\/(?:json|xml|yaml))/.test(inlineData.mimeType)) return undefined;
  return Buffer.from(inlineData.data, 'base64').toString('utf8');
}
