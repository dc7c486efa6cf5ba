import type { Content } from '../../../src/schemas/content.ts';
import type { SessionKey, SessionOwner, State } from '../../../src/schemas/session.ts';
import { createSession } from '../api/sessions.ts';
import { navigate } from './location.ts';
import { metadataState, sessionAddress } from './names.ts';
import { refreshSessions } from './queries.ts';
import type { RunOptions } from './workspace.ts';
import { acquire, release } from './workspaces.ts';

const titleLength = 60;

/** A title from the first user message. */
export const titleFrom = (message: Content): string =>
  message.parts
    .map((part) => part.text ?? '')
    .join(' ')
    .replaceAll(/\s+/g, ' ')
    .trim()
    .slice(0, titleLength);

interface FirstMessage {
  readonly message: Content;
  readonly options?: RunOptions;
  readonly state?: State;
}

/** Creates a session for a first message, opens it and sends the message. Throws when the session cannot be created. */
export async function startSession(owner: SessionOwner, first: FirstMessage): Promise<SessionKey> {
  const { message, options, state } = first;
  const displayName = titleFrom(message);
  const session = await createSession(owner, {
    state: { ...state, ...(displayName !== '' && metadataState({ displayName })) },
  });
  const key = { ...owner, sessionId: session.id };
  void refreshSessions(owner); // the list may be late
  const workspace = acquire(key);
  navigate(sessionAddress(key));
  void workspace
    .open()
    .then(() => workspace.send(message, options))
    .finally(() => release(key)); // its failures show in `run`
  return key;
}
