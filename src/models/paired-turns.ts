import type { Content, FunctionCall, FunctionResponse, Part } from '../schemas/content.ts';

/** One message of a conversation; the roles alternate. */
export interface Turn {
  readonly role: 'user' | 'model';
  readonly parts: readonly Part[];
}

/** User messages for histories that would otherwise end, or begin, with the model. */
export const CONTINUE = 'Please go on with what was asked. If there is nothing left to do, say what came of it.';
export const BEGIN = 'Please do what the system instruction asks for.';

const NO_ANSWER = 'There is no result: the call was not completed.';
const LONGEST_ID = 40;

/**
 * The history for stricter providers: turns alternate, begin and end with the user, and each function call of a model
 * turn has its response at the start of the next user turn, with the same id. A call without a response gets an error as
 * its response; a response without a call becomes text.
 */
export function pairedTurns(contents: readonly Content[]): Turn[] {
  const turns: Turn[] = [];
  let unanswered: FunctionCall[] = [];
  for (const { role, parts } of merged(contents)) {
    if (role === 'user') {
      turns.push({ role, parts: withResponses(unanswered, parts) });
      unanswered = [];
      continue;
    }
    const identified = parts.map((part, at) => withId(part, `${turns.length}_${at}`));
    unanswered = identified.flatMap((part) => (part.functionCall ? [part.functionCall] : []));
    turns.push({ role, parts: identified });
  }
  if (turns.at(-1)?.role !== 'user') {
    const parts = withResponses(unanswered, []);
    const text = turns.length === 0 ? BEGIN : CONTINUE;
    turns.push({ role: 'user', parts: parts.length > 0 ? parts : [{ text }] });
  }
  if (turns[0]?.role !== 'user') turns.unshift({ role: 'user', parts: [{ text: BEGIN }] });
  return turns;
}

function merged(contents: readonly Content[]): Turn[] {
  const turns: { role: Turn['role']; parts: Part[] }[] = [];
  for (const content of contents) {
    if (content.parts.length === 0) continue;
    const role = content.role === 'model' ? 'model' : 'user';
    const last = turns.at(-1);
    if (last?.role === role) last.parts.push(...content.parts);
    else turns.push({ role, parts: [...content.parts] });
  }
  return turns;
}

function withId(part: Part, place: string): Part {
  const call = part.functionCall;
  if (!call) return part;
  return { ...part, functionCall: { ...call, id: call.id ? safeId(call.id) : `call_${place}` } };
}

/** Ids of other providers may have characters that this one rejects. */
const safeId = (id: string): string => id.replaceAll(/[^\w-]/g, '_').slice(-LONGEST_ID);

function withResponses(calls: readonly FunctionCall[], parts: readonly Part[]): Part[] {
  const answers = new Map<FunctionCall, FunctionResponse>();
  const rest: Part[] = [];
  for (const part of parts) {
    const response = part.functionResponse;
    const call = response && callOf(response, calls, answers);
    if (call) answers.set(call, response);
    else rest.push(response ? { text: `${response.name} answered: ${JSON.stringify(response.response)}` } : part);
  }
  const answered = calls.map((call) => {
    const response = answers.get(call) ?? { name: call.name, response: { error: NO_ANSWER } };
    return { functionResponse: { ...response, id: call.id } };
  });
  return [...answered, ...rest];
}

function callOf(
  response: FunctionResponse,
  calls: readonly FunctionCall[],
  answered: ReadonlyMap<FunctionCall, unknown>,
): FunctionCall | undefined {
  const open = calls.filter((call) => !answered.has(call));
  const id = response.id && safeId(response.id);
  return open.find((call) => call.id === id) ?? (id ? undefined : open.find((call) => call.name === response.name));
}
