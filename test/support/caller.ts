import type { CallerRequest } from '../../src/identity/authenticator.ts';

/** A request as authenticators see it. */
export const callerWith = (
  headers: CallerRequest['headers'],
  remoteAddress: string | undefined = '203.0.113.9',
): CallerRequest => ({ method: 'GET', url: '/list-apps', headers, remoteAddress });

export const bearer = (token: string): CallerRequest => callerWith({ authorization: `Bearer ${token}` });

/** For calls that nothing aborts. */
export const patient: AbortSignal = new AbortController().signal;

/** Log lines, by their messages. */
export function collectedLog() {
  const messages: string[] = [];
  const note = (_: object, message: string): void => void messages.push(message);
  return { messages, info: note, warn: note, error: note };
}
