import type { Content, Part } from '../../schemas/content.ts';
import type { Event } from '../../schemas/event.ts';
import { isInternalCall, isInternalResponse } from '../reserved-names.ts';
import { effectiveEvents, isEdit } from './edited-history.ts';
import { narrate } from './narration.ts';
import { pairResponses } from './pairing.ts';

/** Whose view of the history is wanted. */
export interface View {
  readonly agent: string;
  readonly branch: string | undefined;
  /** Only what came since the user, or another agent, last spoke. */
  readonly currentTurnOnly: boolean;
}

/**
 * The history as an agent's model sees it: what is visible on its branch, other agents' turns as narration, every call
 * followed by its response. The contents are those of the stored events, not copies. Throws FunctionCallNotFound when
 * the newest event answers a call that is not there.
 */
export function buildContents(events: readonly Event[], view: View): Content[] {
  const found = collect(events, view, view.currentTurnOnly ? turnStart(events, view) : 0);
  if (found === 'edited') return buildContents(effectiveEvents(events, view.agent), view);
  if (!found.hasTools) return found.contents;
  const contents = view.currentTurnOnly ? reachBack(events, view, found.contents) : found.contents;
  return pairResponses(contents, (id) => events.some((event) => isForeignCall(event, view, id)));
}

interface Collected {
  readonly contents: Content[];
  readonly hasTools: boolean;
}

/** One pass, no allocation per event: this runs over the whole history at every model call. */
function collect(events: readonly Event[], view: View, from: number): Collected | 'edited' {
  const contents: Content[] = [];
  let hasTools = false;
  for (let index = from; index < events.length; index += 1) {
    const event = events[index] as Event;
    const { content } = event;
    if (content === undefined) {
      if (isEdit(event)) return 'edited';
      continue;
    }
    if (!isOnBranch(event.branch, view.branch)) continue;
    const kind = kindOf(content);
    if (kind === 'invisible' || kind === 'internal') continue;
    if (event.author !== 'user' && event.author !== view.agent) {
      const told = narrate(event);
      if (told) contents.push(told);
      continue;
    }
    if (kind === 'tools') hasTools = true;
    contents.push(content);
  }
  return { contents, hasTools };
}

/** Whether an event can be seen from a branch: unbranched events, the branch itself and its ancestors. */
export function isOnBranch(eventBranch: string | undefined, branch: string | undefined): boolean {
  if (branch === undefined || branch === '' || eventBranch === undefined || eventBranch === '') return true;
  return branch === eventBranch || branch.startsWith(`${eventBranch}.`);
}

/** `internal`: the runtime's own conversation with the user, which is none of the model's business. */
type Kind = 'plain' | 'tools' | 'internal' | 'invisible';

function kindOf(content: Content): Kind {
  if (content.role === undefined || content.role === '') return 'invisible';
  let kind: Kind = 'invisible';
  for (const part of content.parts) {
    if (part.text !== undefined && part.text !== '') {
      if (kind === 'invisible' && (!part.thought || part.thoughtSignature)) kind = 'plain';
    } else if (part.functionCall !== undefined) {
      if (isInternalCall(part.functionCall.name, content.role)) return 'internal';
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
  if (part['toolCall'] ?? part['toolResponse']) return true;
  return !part.thought && Boolean(part.inlineData ?? part.fileData ?? part.executableCode ?? part.codeExecutionResult);
}

const isForeignCall = (event: Event, view: View, id: string): boolean =>
  event.author !== view.agent &&
  isOnBranch(event.branch, view.branch) &&
  (event.content?.parts ?? []).some(({ functionCall }) => functionCall?.id === id);

/** The index of the newest event by the user or by another agent: where the current turn of this agent begins. */
function turnStart(events: readonly Event[], view: View): number {
  for (let index = events.length - 1; index >= 0; index -= 1) {
    const event = events[index] as Event;
    if (event.content === undefined || event.author === view.agent || !isOnBranch(event.branch, view.branch)) continue;
    const kind = kindOf(event.content);
    if (kind === 'plain' || kind === 'tools') return index;
  }
  return 0;
}

/** The current turn, preceded by the calls that it answers. */
function reachBack(events: readonly Event[], view: View, contents: Content[]): Content[] {
  const open = new Set<string | undefined>();
  for (const { parts } of contents)
    for (const { functionResponse } of parts) if (functionResponse) open.add(functionResponse.id);
  for (const { parts } of contents) for (const { functionCall } of parts) open.delete(functionCall?.id);
  if (open.size === 0) return contents;
  const from = events.findLastIndex(({ content }) =>
    content?.parts.some(({ functionCall }) => functionCall && open.has(functionCall.id)),
  );
  if (from < 0) return contents;
  const found = collect(events, view, from);
  return found === 'edited' ? contents : found.contents;
}
