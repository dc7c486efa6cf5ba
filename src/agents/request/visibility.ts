import type { Content, Part } from '../../schemas/content.ts';
import { openFields } from '../../schemas/lenient.ts';
import { isInternalCall, isInternalResponse } from '../reserved-names.ts';

/** Whether an event can be seen from a branch: unbranched events, the branch itself and its ancestors. */
export function isOnBranch(eventBranch: string | undefined, branch: string | undefined): boolean {
  if (branch === undefined || branch === '' || eventBranch === undefined || eventBranch === '') return true;
  return branch === eventBranch || branch.startsWith(`${eventBranch}.`);
}

/**
 * What a content is to a model. `tools`: it calls or answers functions. `internal`: it is between the runtime and the
 * user. `invisible`: it shows nothing.
 */
export type ContentKind = 'plain' | 'tools' | 'internal' | 'invisible';

export function kindOf({ role, parts }: Content): ContentKind {
  if (role === undefined || role === '') return 'invisible';
  let kind: ContentKind = 'invisible';
  for (const part of parts) {
    const { text } = part;
    if (text !== undefined && text !== '') {
      if (kind === 'invisible' && (!part.thought || part.thoughtSignature)) kind = 'plain';
    } else if (part.functionCall !== undefined) {
      if (isInternalCall(part.functionCall.name, role)) return 'internal';
      kind = 'tools';
    } else if (part.functionResponse !== undefined) {
      if (isInternalResponse(part.functionResponse.name)) return 'internal';
      kind = 'tools';
    } else if (kind === 'invisible' && isVisible(part)) kind = 'plain';
  }
  return kind;
}

/** A part that is neither text nor a function call or response. */
function isVisible(part: Part): boolean {
  if (part.thoughtSignature) return true;
  if (openFields(part)['toolCall'] ?? openFields(part)['toolResponse']) return true;
  // Artifacts are ours: no model can look one up.
  if (part.fileData?.fileUri.startsWith('artifact://')) return false;
  return !part.thought && Boolean(part.inlineData ?? part.fileData ?? part.executableCode ?? part.codeExecutionResult);
}
