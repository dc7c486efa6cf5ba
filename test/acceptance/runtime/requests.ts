import type { GeminiPart } from '../../support/gemini-request.ts';
import type { WireEvent } from '../real-input/conversation.ts';

/** A question to the user, as an event carries it. */
export interface Asked {
  readonly id: string;
  readonly name: string;
  readonly args: Record<string, unknown>;
}

const names = new Set(['adk_request_confirmation', 'adk_request_credential', 'adk_request_input']);

/** The questions to the user in these events; each must be marked as long-running. */
export const askedIn = (events: readonly WireEvent[]): Asked[] =>
  events.flatMap(({ content, longRunningToolIds = [] }) =>
    (content?.parts ?? []).flatMap(({ functionCall }) => {
      if (!functionCall || !names.has(functionCall.name)) return [];
      const { id = '', name, args = {} } = functionCall;
      if (!longRunningToolIds.includes(id)) throw new Error(`${name} ${id} is not marked as long-running`);
      return [{ id, name, args }];
    }),
  );

/** The user's answer to a question. */
export const answerTo = ({ id, name }: Pick<Asked, 'id' | 'name'>, response: Record<string, unknown>): GeminiPart[] => [
  { functionResponse: { id, name, response } },
];

/** What tools answered in these events. */
export const responsesIn = (events: readonly WireEvent[]): unknown[] =>
  events.flatMap(({ content }) =>
    (content?.parts ?? []).flatMap(({ functionResponse }) => (functionResponse ? [functionResponse.response] : [])),
  );
