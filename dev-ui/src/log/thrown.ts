import type { Event } from '../../../src/schemas/event.ts';

/** An error that the code of an app threw, if the server shows it (only to its author). */
export interface Thrown {
  readonly name?: string;
  readonly message: string;
  /** `file:line`, below the folder of the apps. */
  readonly where?: string;
  /** The id of the error in the server log. */
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

/** The error that the tool of a call threw, from the event of its response. */
export function thrownByCall(callId: string | undefined, answer: Event | undefined): Thrown | undefined {
  const errors = fieldsOf(fieldsOf(answer?.customMetadata)['toolErrors']);
  const { name, message, where } = fieldsOf(callId === undefined ? undefined : errors[callId]);
  if (typeof message !== 'string') return undefined;
  return { message, ...(typeof name === 'string' && { name }), ...(typeof where === 'string' && { where }) };
}

/** Metadata may contain any value. */
const fieldsOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};

const textIn = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);
