import type { Session, SessionKey } from '../../../src/schemas/session.ts';
import { metadataKey } from '../log/internal-keys.ts';
import { match, to } from './location.ts';

export { isInternalKey } from '../log/internal-keys.ts';

/** Metadata of a session. */
export interface SessionMetadata {
  readonly displayName?: string;
  /** The session this one was forked from, and the event of the fork. */
  readonly forkedFrom?: { readonly sessionId: string; readonly eventId?: string };
  /** What was changed in the fork, in words. */
  readonly change?: string;
  /** The changed part of calls, by call id: in this fork, or in one it was forked from. */
  readonly changedCalls?: Readonly<Record<string, CallChange>>;
}

/** The part of a call that a fork changed. */
export type CallChange = 'arguments' | 'result';

export function metadataOf({ state }: Pick<Session, 'state'>): SessionMetadata {
  const value = state[metadataKey];
  return typeof value === 'object' && value !== null ? value : {};
}

export const metadataState = (metadata: SessionMetadata): Record<string, unknown> => ({ [metadataKey]: metadata });

export const titleOf = (session: Pick<Session, 'id' | 'state'>): string =>
  metadataOf(session).displayName || `Session ${session.id.slice(0, 8)}`;

/** The title of a session of the list. */
export const shownTitle = ({ id, title, titleSource }: { id: string; title: string; titleSource: string }): string =>
  titleSource === 'id' ? `Session ${id.slice(0, 8)}` : title;

export const sessionPattern = '/apps/:app/u/:user/s/:session';

export const sessionAddress = (key: SessionKey, query: Readonly<Record<string, string>> = {}): string =>
  to(sessionPattern, { app: key.appName, user: key.userId, session: key.sessionId }, query);

/** The app in an address. */
export function appIn(path: string): string | undefined {
  const segment = /^\/apps\/([^/]+)/.exec(path)?.[1];
  return segment === undefined ? undefined : match('/:app', `/${segment}`)?.['app'];
}

/** The session in an address, on any of its pages. */
export function sessionIn(path: string): SessionKey | undefined {
  const segments = path.split('/').slice(0, 7).join('/');
  const found = match(sessionPattern, segments);
  return found && { appName: found['app'] ?? '', userId: found['user'] ?? '', sessionId: found['session'] ?? '' };
}
