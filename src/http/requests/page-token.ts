import { createHash } from 'node:crypto';
import { AppError } from '../../base/errors.ts';
import type { SessionKey } from '../../schemas/session.ts';

/** The page token for clients: a store's token, valid for one session only. It is a position, not a secret. */
export const pageTokenFor = (key: SessionKey, token: string): string =>
  `${Buffer.from(token).toString('base64url')}.${sealOf(key, token)}`;

/** Returns the store's token. Throws `invalid_request` for a token of another session. */
export function openPageToken(key: SessionKey, text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const [encoded = '', seal] = text.split('.');
  const token = Buffer.from(encoded, 'base64url').toString();
  if (text === pageTokenFor(key, token) && seal !== undefined) return token;
  throw new AppError('invalid_request', 'pageToken: is not a token of this session');
}

const sealOf = ({ appName, userId, sessionId }: SessionKey, token: string): string =>
  createHash('sha256')
    .update(JSON.stringify([appName, userId, sessionId, token]))
    .digest('base64url')
    .slice(0, 16);
