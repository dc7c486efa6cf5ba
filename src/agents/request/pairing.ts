import { AppError } from '../../base/errors.ts';
import type { Content, FunctionCall, FunctionResponse, Part } from '../../schemas/content.ts';
import { requestNames } from '../reserved-names.ts';
import { narrateResponse } from './narration.ts';

/** A call in the history and the newest answer to it. */
interface CallSlot {
  readonly call: FunctionCall;
  answer?: Part;
}

/** Whether a call of another agent is `seen` in this view, or `hidden` from it; `undefined`: it is nowhere. */
export type ForeignCall = 'seen' | 'hidden' | undefined;
type FindForeignCall = (id: string) => ForeignCall;

/** The key that a call and its response share: the id, or the name in imported histories without ids. */
export const callKey = ({ id, name }: FunctionCall | FunctionResponse): string => id ?? `name:${name}`;

/**
 * Puts one content with all function responses, in call order, right after each content with calls, as providers demand.
 * The newest response to a call counts; a call without one gets a pending response. When the newest content responds to
 * an earlier call, the contents in between are left out. A response without its call is dropped, or becomes text when
 * another agent made the call. Throws FunctionCallNotFound when the newest content has only such responses.
 */
export function pairResponses(contents: Content[], foreignCall: FindForeignCall): Content[] {
  const history = dropBetween(contents, foreignCall);
  const { slots, matched } = matchResponses(history);
  const paired: Content[] = [];
  for (const content of history) {
    const made = slots.get(content);
    if (made) {
      paired.push(content, { role: 'user', parts: made.map((slot) => slot.answer ?? pendingResponse(slot.call)) });
      continue;
    }
    if (!content.parts.some(({ functionResponse }) => functionResponse)) {
      paired.push(content);
      continue;
    }
    const parts = content.parts.flatMap((part) => unmatchedPart(part, matched, foreignCall));
    if (parts.length > 0) paired.push({ ...content, parts });
  }
  return paired;
}

/**
 * How far, going on from `from`, contents are either plain or calls followed by exactly their answers. Nothing is
 * allocated: this is true of most histories to their end.
 */
export function pairedUpTo(contents: readonly Content[], from: number): number {
  let index = from;
  while (index < contents.length) {
    const parts = (contents[index] as Content).parts;
    const calls = count(parts, 'functionCall');
    const responses = count(parts, 'functionResponse');
    if (calls > 0 || responses > 0) {
      const answers = contents[index + 1]?.parts;
      if (responses > 0 || answers?.length !== calls) return index;
      for (const { functionCall } of parts) if (functionCall && !answersOnce(answers, functionCall)) return index;
      index += 1;
    }
    index += 1;
  }
  return index;
}

function count(parts: readonly Part[], payload: 'functionCall' | 'functionResponse'): number {
  let found = 0;
  for (const part of parts) if (part[payload] !== undefined) found += 1;
  return found;
}

function answersOnce(answers: readonly Part[], call: FunctionCall): boolean {
  let found = 0;
  for (const { functionResponse } of answers) {
    if (functionResponse && functionResponse.id === call.id && functionResponse.name === call.name) found += 1;
  }
  return found === 1;
}

/** Leaves out what came between the newest content, if it answers a call, and that call; answers to its siblings stay. */
function dropBetween(contents: readonly Content[], foreignCall: FindForeignCall): readonly Content[] {
  const newest = contents.at(-1);
  const responses = (newest?.parts ?? []).flatMap(({ functionResponse }) =>
    functionResponse ? [functionResponse] : [],
  );
  if (!newest || responses.length === 0) return contents;
  const ids = new Set(responses.map(callKey));
  const at = contents.findLastIndex(({ parts }) => parts.some((part) => isCallIn(part, ids)));
  if (at < 0) {
    const missing = responses.find(({ id, name }) => name !== requestNames.input && !(id && foreignCall(id)));
    if (!missing || contents.length === 1) return contents;
    throw new AppError(
      'FunctionCallNotFound',
      `No call of "${missing.name}" with id "${missing.id}" precedes its response`,
    );
  }
  const siblings = new Set(
    contents[at]?.parts.flatMap(({ functionCall }) => (functionCall ? [callKey(functionCall)] : [])),
  );
  const between = contents.slice(at + 1, -1).flatMap((content) => {
    const parts = content.parts.filter(
      ({ functionResponse }) => functionResponse && siblings.has(callKey(functionResponse)),
    );
    return parts.length > 0 ? [{ ...content, parts }] : [];
  });
  return [...contents.slice(0, at + 1), ...between, newest];
}

const isCallIn = ({ functionCall }: Part, ids: ReadonlySet<string>): boolean =>
  functionCall !== undefined && ids.has(callKey(functionCall));

/** Matches each response with the newest earlier call of its id: models do reuse ids. */
function matchResponses(history: readonly Content[]): { slots: Map<Content, CallSlot[]>; matched: Set<Part> } {
  const slots = new Map<Content, CallSlot[]>();
  const matched = new Set<Part>();
  const open = new Map<string, CallSlot>();
  for (const content of history) {
    for (const part of content.parts) {
      if (part.functionCall) {
        const slot: CallSlot = { call: part.functionCall };
        open.set(callKey(part.functionCall), slot);
        slots.set(content, [...(slots.get(content) ?? []), slot]);
      } else if (part.functionResponse) {
        const slot = open.get(callKey(part.functionResponse));
        if (!slot) continue;
        slot.answer = part;
        matched.add(part);
      }
    }
  }
  return { slots, matched };
}

/** A part of a content with responses, after the matched responses moved to their calls. */
function unmatchedPart(part: Part, matched: ReadonlySet<Part>, foreignCall: FindForeignCall): Part[] {
  const { functionResponse } = part;
  if (!functionResponse) return [part];
  if (matched.has(part) || !functionResponse.id) return [];
  if (foreignCall(functionResponse.id) !== 'seen') return [];
  return [narrateResponse(functionResponse.name, functionResponse.response, 'user')];
}

function pendingResponse({ id, name }: FunctionCall): Part {
  const response = { status: 'pending', message: 'There is no result yet. Do not call again to wait for it.' };
  return { functionResponse: id === undefined ? { name, response } : { id, name, response } };
}
