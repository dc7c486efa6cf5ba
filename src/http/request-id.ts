import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { isUpgrade } from './live/accept.ts';

/** Up to 128 characters that stand in a header and in a line of a log as they are. */
const sane = /^[\w.:/+=@-]{1,128}$/;

/** What a request is called in answers and logs: as the client, or a proxy before us, calls it, else a new UUID. */
export function requestIdOf({ headers }: Pick<IncomingMessage, 'headers'>): string {
  const given = headers['x-request-id'];
  if (typeof given === 'string' && sane.test(given)) return given;
  const id = randomUUID();
  if (isUpgrade(headers)) headers['x-request-id'] = id; // answered by who sees no more than these
  return id;
}
