import { createHash } from 'node:crypto';
import { AppError } from '../base/errors.ts';
import type { SessionKey } from '../schemas/session.ts';

/** A store's page token as clients get it: good for one session only. It is a place, and no secret. */
export const pageTokenFor = (key: SessionKey, token: string): string =>
  `${Buffer.from(token).toString('base64url')}.${sealOf(key, token)}`;

/** Reads it back. Throws `invalid_request` for what was not given out for this session. */
export function openPageToken(key: SessionKey, text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const [encoded = '', seal] = text.split('.');
  const token = Buffer.from(encoded, 'base64url').toString();
  if (text === pageTokenFor(key, token) && seal !== undefined) return token;
  throw new AppError('invalid_request', 'pageToken: is not one of this session');
}

const sealOf = ({ appName, userId, sessionId }: SessionKey, token: string): string =>
  createHash('sha256')
    .update(JSON.stringify([appName, userId, sessionId, token]))
    .digest('base64url')
    .slice(0, 16);
