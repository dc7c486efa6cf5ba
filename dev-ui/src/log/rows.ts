import type { FunctionCall, FunctionResponse, Part } from '../../../src/schemas/content.ts';
import type { Event } from '../../../src/schemas/event.ts';
import { isInternalKey } from './internal-keys.ts';

/** Status of a call: running, waiting for an answer, answered, or failed. */
export type CallStatus = 'running' | 'waiting' | 'ok' | 'error';

interface RowOf<Kind extends string> {
  readonly kind: Kind;
  /** Unique in the log and stable while the log grows. */
  readonly key: string;
  /** The event it stands for: what a selection, a link or a fork means. */
  readonly event: Event;
  /** Position of that event in the log. */
  readonly index: number;
}

/** A message of a user. */
export interface UserRow extends RowOf<'user'> {
  readonly parts: readonly Part[];
}
/** Content of an agent: text, thoughts, media, code. */
export interface TextRow extends RowOf<'text'> {
  readonly parts: readonly Part[];
}
/** A tool call with its result, as one. */
export interface CallRow extends RowOf<'call'> {
  readonly call: FunctionCall;
  readonly status: CallStatus;
  readonly response?: FunctionResponse;
  readonly responseEvent?: Event;
}
/** Calls in a row, shown as one line until opened. */
export interface FoldRow extends RowOf<'fold'> {
  readonly calls: readonly CallRow[];
}
/** A request that the user has to answer. */
export interface RequestRow extends RowOf<'request'> {
  readonly request: RequestKind;
  readonly call: FunctionCall;
  readonly answer?: FunctionResponse;
  readonly answerEvent?: Event;
}
export interface TransferRow extends RowOf<'transfer'> {
  readonly to: string;
}
export interface ErrorRow extends RowOf<'error'> {}
/** The actions of an event without content: state, artifacts, rewind, compaction, end. */
export interface NoteRow extends RowOf<'note'> {}

export type Row = UserRow | TextRow | CallRow | FoldRow | RequestRow | TransferRow | ErrorRow | NoteRow;
export type RequestKind = 'confirmation' | 'input' | 'credential';

const requestKinds: Readonly<Record<string, RequestKind>> = {
  adk_request_confirmation: 'confirmation',
  adk_request_input: 'input',
  adk_request_credential: 'credential',
};

export const requestKindOf = (call: FunctionCall): RequestKind | undefined => requestKinds[call.name];

/** Whether the response of a tool reports a failure. */
export const isFailure = ({ response }: FunctionResponse): boolean =>
  response['error'] !== undefined && response['error'] !== null && response['error'] !== false;

/** Whether a response only says that the user has to answer a request first. */
const asksFirst = ({ actions }: Event, { id = '' }: FunctionCall): boolean =>
  Object.hasOwn(actions.requestedToolConfirmations, id) || Object.hasOwn(actions.requestedAuthConfigs, id);

/** The status of a call, from its event and its response. */
export function statusOf(
  call: FunctionCall,
  event: Event,
  answer?: { readonly response: FunctionResponse; readonly event: Event },
): CallStatus {
  const response = answer?.response;
  if (answer && asksFirst(answer.event, call)) return 'waiting';
  if (response && response.willContinue !== true) return isFailure(response) ? 'error' : 'ok';
  return call.id !== undefined && event.longRunningToolIds?.includes(call.id) ? 'waiting' : 'running';
}

/** The rows an event adds of itself; its responses go to the rows of their calls. */
export function rowsOf(event: Event, index: number): Row[] {
  const rows: Row[] = [];
  const parts = event.content?.parts ?? [];
  const written = parts.filter((part) => !part.functionCall && !part.functionResponse && part.text !== '');
  const spoken = event.inputTranscription?.text ?? event.outputTranscription?.text ?? '';
  const said = spoken === '' ? written : [...written, { text: spoken }];
  if (said.length > 0) {
    const kind = event.author === 'user' || event.inputTranscription ? 'user' : 'text';
    rows.push({ kind, key: event.id, event, index, parts: said });
  }
  for (const [position, { functionCall: call }] of parts.entries()) {
    if (!call) continue;
    const key = `${event.id}/${call.id ?? position}`;
    const request = requestKindOf(call);
    if (request) rows.push({ kind: 'request', key, event, index, request, call });
    else if (call.name !== 'transfer_to_agent') {
      rows.push({ kind: 'call', key, event, index, call, status: statusOf(call, event) });
    }
  }
  if (event.errorCode !== undefined || event.errorMessage !== undefined) {
    rows.push({ kind: 'error', key: `${event.id}/error`, event, index });
  }
  const to = event.actions.transferToAgent;
  if (to !== undefined) rows.push({ kind: 'transfer', key: `${event.id}/transfer`, event, index, to });
  if (rows.length === 0 && isNotable(event)) rows.push({ kind: 'note', key: event.id, event, index });
  return rows;
}

function isNotable({ actions, content }: Event): boolean {
  if ((content?.parts ?? []).some((part) => part.functionResponse)) return false;
  return (
    Object.keys(actions.stateDelta).some((key) => !isInternalKey(key)) ||
    Object.keys(actions.artifactDelta).length > 0 ||
    actions.rewindBeforeInvocationId !== undefined ||
    actions.compaction !== undefined ||
    actions.escalate === true ||
    actions.endOfAgent === true
  );
}
