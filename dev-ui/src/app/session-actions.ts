import { create } from 'zustand';
import { messageOf } from '../api/server.ts';
import {
  createSession,
  deleteSession,
  patchState,
  readSession,
  type Session,
  type SessionKey,
} from '../api/sessions.ts';
import { toast } from '../parts/toasts.tsx';
import { useCurrent } from './current.ts';
import { metadataOf, metadataState, titleOf } from './names.ts';
import { sessionIn } from './names.ts';
import { getPlace, navigate, to } from './place.ts';
import { prompt } from './prompts.tsx';
import { queries, refreshSessions, sessionsKey } from './queries.ts';
import { changeSettings, useSettings } from './settings.ts';

const keyOf = ({ appName, userId, id }: Session): SessionKey => ({ appName, userId, sessionId: id });
/** How long a deleted session can be brought back. */
const undoMs = 6_000;

export function togglePin(sessionId: string): void {
  const { pinned } = useSettings.getState();
  const without = pinned.filter((id) => id !== sessionId);
  changeSettings({ pinned: without.length < pinned.length ? without : [sessionId, ...pinned] });
}

export function askToRename(session: Session): void {
  const rename = async (displayName: string): Promise<void> => {
    try {
      const changed = await patchState(keyOf(session), metadataState({ ...metadataOf(session), displayName }));
      const { workspace } = useCurrent.getState();
      if (workspace?.key.sessionId === session.id) workspace.log.setState(changed.state);
      await refreshSessions(session);
    } catch (error) {
      toast(messageOf(error), { tone: 'error' });
    }
  };
  prompt({
    title: 'Rename session',
    label: 'Title',
    action: 'Rename',
    value: titleOf(session),
    onSubmit: (title) => void rename(title.trim()),
  });
}

/** Sessions that are gone from the list and can still be brought back. */
export const useRemoved = create(() => ({ ids: [] as readonly string[] }));

/** Takes a session from the list at once; from the server when it is too late to undo. */
export function removeSession(session: Session): void {
  const key = keyOf(session);
  const queryKey = sessionsKey(key);
  const show = (isShown: boolean): void =>
    useRemoved.setState(({ ids }) => ({ ids: isShown ? ids.filter((id) => id !== session.id) : [...ids, session.id] }));
  show(false);
  const wasOpen = sessionIn(getPlace().path)?.sessionId === session.id;
  const address = getPlace().path;
  if (wasOpen) navigate(to('/apps/:app', { app: key.appName }));
  const remove = async (): Promise<void> => {
    window.removeEventListener('pagehide', atOnce);
    try {
      await deleteSession(key);
    } catch (error) {
      show(true);
      toast(messageOf(error), { tone: 'error' });
    }
    await queries.invalidateQueries({ queryKey });
  };
  const atOnce = (): void => void remove(); // a page that goes away cannot be asked to undo
  window.addEventListener('pagehide', atOnce);
  const timer = setTimeout(atOnce, undoMs);
  toast(`Deleted “${titleOf(session)}”`, {
    action: {
      label: 'Undo',
      run() {
        clearTimeout(timer);
        window.removeEventListener('pagehide', atOnce);
        show(true);
        if (wasOpen) navigate(address);
      },
    },
  });
}

/** Saves the session as one JSON file, in the shape the API has. */
export async function exportSession(key: SessionKey): Promise<void> {
  try {
    const session = await readSession(key);
    download(
      `${titleOf(session)
        .replaceAll(/[^\w -]+/g, '_')
        .slice(0, 60)}.json`,
      JSON.stringify(session, undefined, 2),
    );
  } catch (error) {
    toast(messageOf(error), { tone: 'error' });
  }
}

export function download(name: string, content: BlobPart, type = 'application/json'): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([content], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** Makes a session of an exported one: same events and state, a new id. */
export async function importSession(owner: Pick<SessionKey, 'appName' | 'userId'>, text: string): Promise<SessionKey> {
  const { state = {}, events = [] } = JSON.parse(text) as Partial<Session>;
  const { id } = await createSession(owner, { state, events });
  return { ...owner, sessionId: id };
}
