import type { IncomingMessage } from 'node:http';
import { newUuid } from '../../base/uuid.ts';
import { isUpgrade } from './request-target.ts';

/** Up to 128 characters that need no escaping in headers and log lines. */
const sane = /^[\w.:/+=@-]{1,128}$/;

/** The id of a request in responses and logs: the `X-Request-Id` of the client or a proxy, else a new UUID. */
export function requestIdOf({ headers }: Pick<IncomingMessage, 'headers'>): string {
  const given = headers['x-request-id'];
  if (typeof given === 'string' && sane.test(given)) return given;
  const id = newUuid();
  if (isUpgrade(headers)) headers['x-request-id'] = id; // the WebSocket server sees only the headers
  return id;
}
