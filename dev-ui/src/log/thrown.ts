import type { Event } from '../../../src/schemas/event.ts';

/** What code of an app threw, as far as the server tells: to its author only. */
export interface Thrown {
  readonly name?: string;
  readonly message: string;
  /** `file:line`, below the folder of the apps. */
  readonly where?: string;
  /** What the log of the server calls it. */
  readonly errorId?: string;
}

/** The error of an event. Its message ends with the place where there is one. */
export function thrownIn({ errorMessage = 'No message.', customMetadata }: Event): Thrown {
  const metadata = fieldsOf(customMetadata);
  const where = textIn(metadata['where']);
  const errorId = textIn(metadata['errorId']);
  const suffix = ` (at ${where})`;
  const message = errorMessage.endsWith(suffix) ? errorMessage.slice(0, -suffix.length) : errorMessage;
  return { message, ...(where !== undefined && { where }), ...(errorId !== undefined && { errorId }) };
}

/** What the tool of a call threw, from the event that holds its answer. */
export function thrownByCall(callId: string | undefined, answer: Event | undefined): Thrown | undefined {
  const errors = fieldsOf(fieldsOf(answer?.customMetadata)['toolErrors']);
  const { name, message, where } = fieldsOf(callId === undefined ? undefined : errors[callId]);
  if (typeof message !== 'string') return undefined;
  return { message, ...(typeof name === 'string' && { name }), ...(typeof where === 'string' && { where }) };
}

/** Metadata hold whatever anybody put there. */
const fieldsOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};

const textIn = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);
