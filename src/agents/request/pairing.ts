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

/** What a call and its response share. Ids tell calls apart; histories from elsewhere may have none. */
export const callKey = ({ id, name }: FunctionCall | FunctionResponse): string => id ?? `name:${name}`;

/**
 * Puts one content with the answers, in call order, right after every content with calls, wherever they came in the
 * history: the newest answer to a call counts, and a call nobody answered gets an answer that says so. When the newest
 * content answers an earlier call, what came in between is left out. Answers to calls that are not there are dropped,
 * or told in words when the call was another agent's. Throws FunctionCallNotFound when the newest content is of that
 * kind only.
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

/** Gives each response to the newest call before it that has its id: models do use an id again. */
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

/** What is left of a part of a content with responses once those that were matched have moved to their calls. */
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
