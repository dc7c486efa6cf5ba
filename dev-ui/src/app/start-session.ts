import type { Content } from '../../../src/schemas/content.ts';
import type { SessionKey, SessionOwner, State } from '../../../src/schemas/session.ts';
import { createSession } from '../api/sessions.ts';
import { metadataState, sessionAddress } from './names.ts';
import { navigate } from './place.ts';
import { refreshSessions } from './queries.ts';
import type { RunOptions } from './workspace.ts';
import { acquire, release } from './workspaces.ts';

const titleLength = 60;

/** A title from what the user said first. */
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

/** Makes a session of a first message, goes there and sends it. Throws when the session cannot be made. */
export async function startSession(owner: SessionOwner, first: FirstMessage): Promise<SessionKey> {
  const { message, options, state } = first;
  const displayName = titleFrom(message);
  const session = await createSession(owner, {
    state: { ...state, ...(displayName !== '' && metadataState({ displayName })) },
  });
  const key = { ...owner, sessionId: session.id };
  void refreshSessions(owner); // a list that is late is no failure
  const workspace = acquire(key);
  navigate(sessionAddress(key));
  void workspace
    .open()
    .then(() => workspace.send(message, options))
    .finally(() => release(key)); // its failures show in `run`
  return key;
}
